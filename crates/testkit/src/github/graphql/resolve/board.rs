//! Boards, their fields and items.

use serde_json::{Value, json};

use super::connection::page;
use super::{Answer, Object, Resolved, Session, or_null};
use crate::github::board::FieldKind;
use crate::github::graphql::error::Failure;
use crate::github::graphql::execute::Arguments;

impl Session<'_> {
    /// The owner's board with this number.
    pub(super) fn project_of(&self, login: &str, arguments: &Arguments) -> Answer {
        let number = arguments.number("number").unwrap_or_default();
        self.world
            .boards
            .iter()
            .position(|board| {
                board.host == self.host
                    && board.owner.eq_ignore_ascii_case(login)
                    && board.number == number
            })
            .filter(|_| self.sees_boards())
            .map(|board| Object::Board(board).into())
            .ok_or_else(|| {
                Failure::not_found(format!(
                    "Could not resolve to a ProjectV2 with the number {number}."
                ))
            })
    }

    /// The items of all boards that contain this issue or pull request.
    pub(super) fn items_of(
        &self,
        repository: usize,
        number: u64,
        arguments: &Arguments,
    ) -> Resolved {
        let mut items: Vec<Resolved> = Vec::new();
        for (board, known) in self.world.boards.iter().enumerate() {
            for (item, held) in known.items.iter().enumerate() {
                if held.content == (repository, number) && self.sees_boards() {
                    items.push(Object::BoardItem { board, item }.into());
                }
            }
        }
        page("ProjectV2ItemConnection", "projectItems", &items, arguments)
    }

    pub(super) fn board_field(
        &self,
        board: usize,
        field: &str,
        arguments: &Arguments,
    ) -> Option<Answer> {
        let known = &self.world.boards[board];
        Some(Ok(match field {
            "id" => json!(known.id).into(),
            "number" => json!(known.number).into(),
            "title" => json!(known.title).into(),
            "closed" => false.into(),
            "url" => json!(format!(
                "https://{}/{}/projects/{}",
                known.host, known.owner, known.number
            ))
            .into(),
            "owner" => self.account_object(&known.owner),
            "field" => {
                let named = known.field_named(arguments.text("name").unwrap_or_default());
                or_null(named.map(|field| Object::BoardField { board, field }))
            }
            "fields" => {
                let all =
                    (0..known.fields.len()).map(|field| Object::BoardField { board, field }.into());
                let connection = "ProjectV2FieldConfigurationConnection";
                let all: Vec<Resolved> = all.collect();
                page(connection, field, &all, arguments)
            }
            "items" => {
                let all =
                    (0..known.items.len()).map(|item| Object::BoardItem { board, item }.into());
                let all: Vec<Resolved> = all.collect();
                page("ProjectV2ItemConnection", field, &all, arguments)
            }
            _ => return None,
        }))
    }

    pub(super) fn board_field_type(&self, board: usize, field: usize) -> &'static str {
        match self.world.boards[board].fields[field].kind {
            FieldKind::SingleSelect(_) => "ProjectV2SingleSelectField",
            FieldKind::Title | FieldKind::Text => "ProjectV2Field",
        }
    }

    pub(super) fn board_field_field(
        &self,
        board: usize,
        of: usize,
        field: &str,
        arguments: &Arguments,
    ) -> Option<Answer> {
        let known = &self.world.boards[board].fields[of];
        Some(Ok(match (field, &known.kind) {
            ("id", _) => json!(known.id).into(),
            ("name", _) => json!(known.name).into(),
            ("dataType", FieldKind::Title) => json!("TITLE").into(),
            ("dataType", FieldKind::Text) => json!("TEXT").into(),
            ("dataType", FieldKind::SingleSelect(_)) => json!("SINGLE_SELECT").into(),
            ("options", FieldKind::SingleSelect(options)) => {
                let names = arguments.get("names").and_then(Value::as_array);
                let wanted = options.iter().filter(|option| {
                    names.is_none_or(|names| names.iter().any(|name| name == option.name.as_str()))
                });
                let records = wanted.map(|option| {
                    Object::Record(
                        "ProjectV2SingleSelectFieldOption",
                        vec![
                            ("id", json!(option.id).into()),
                            ("name", json!(option.name).into()),
                        ],
                    )
                    .into()
                });
                Resolved::List(records.collect())
            }
            _ => return None,
        }))
    }

    pub(super) fn board_item_field(
        &self,
        board: usize,
        item: usize,
        field: &str,
        arguments: &Arguments,
    ) -> Option<Answer> {
        let known = &self.world.boards[board];
        let held = &known.items[item];
        let (repository, number) = held.content;
        let is_issue = self.world.repositories[repository]
            .issues
            .contains_key(&number);
        let value = |field: usize| {
            let set = held.values.contains_key(&known.fields[field].id);
            set.then_some(Object::BoardValue { board, item, field })
        };
        Some(Ok(match field {
            "id" => json!(held.id).into(),
            "isArchived" => false.into(),
            "project" => Object::Board(board).into(),
            "type" if is_issue => json!("ISSUE").into(),
            "type" => json!("PULL_REQUEST").into(),
            "content" if is_issue => Object::Issue { repository, number }.into(),
            "content" => Object::PullRequest { repository, number }.into(),
            "fieldValueByName" => {
                let named = known.field_named(arguments.text("name").unwrap_or_default());
                or_null(named.and_then(value))
            }
            "fieldValues" => {
                let set = (0..known.fields.len())
                    .filter_map(value)
                    .map(Resolved::Object);
                let connection = "ProjectV2ItemFieldValueConnection";
                let all: Vec<Resolved> = set.collect();
                page(connection, field, &all, arguments)
            }
            _ => return None,
        }))
    }

    pub(super) fn board_value_type(&self, board: usize, field: usize) -> &'static str {
        match self.world.boards[board].fields[field].kind {
            FieldKind::SingleSelect(_) => "ProjectV2ItemFieldSingleSelectValue",
            FieldKind::Title | FieldKind::Text => "ProjectV2ItemFieldTextValue",
        }
    }

    pub(super) fn board_value_field(
        &self,
        board: usize,
        item: usize,
        of: usize,
        field: &str,
    ) -> Option<Answer> {
        let known = &self.world.boards[board];
        let held = &known.items[item];
        let shown = known.fields[of].shown(held);
        Some(Ok(match field {
            "id" => json!(format!("PVTFV_{}_{of}", held.id)).into(),
            "field" => Object::BoardField { board, field: of }.into(),
            "name" | "text" => json!(shown).into(),
            "optionId" => json!(held.values.get(&known.fields[of].id)).into(),
            _ => return None,
        }))
    }
}
