//! A test's handle for one board.

use std::collections::BTreeMap;

use super::board::{Board, BoardField, BoardItem, FieldKind, ItemValues, STATUSES, SelectOption};
use super::state::World;
use super::{GitHub, Repo};

#[derive(Clone, Copy, Debug)]
pub struct Project<'a> {
    github: &'a GitHub,
    index: usize,
}

impl<'a> Project<'a> {
    pub(super) fn add(github: &'a GitHub, host: &str, owner: &str, number: u64) -> Self {
        let mut inside = github.shared.lock();
        let world = &mut inside.world;
        assert!(
            world.account(owner).is_some(),
            "no account {owner}: add a repository or account first"
        );
        let board = Board {
            id: world.id("PVT"),
            host: host.to_owned(),
            owner: owner.to_owned(),
            number,
            title: format!("Board {number}"),
            fields: vec![
                BoardField {
                    id: world.id("PVTF"),
                    name: "Title".to_owned(),
                    kind: FieldKind::Title,
                },
                BoardField {
                    id: world.id("PVTSSF"),
                    name: "Status".to_owned(),
                    kind: FieldKind::SingleSelect(options(world, &STATUSES)),
                },
                BoardField {
                    id: world.id("PVTF"),
                    name: "Agent".to_owned(),
                    kind: FieldKind::Text,
                },
            ],
            items: Vec::new(),
            writes: 0,
        };
        world.boards.push(board);
        let index = world.boards.len() - 1;
        Self { github, index }
    }

    pub(super) fn find(github: &'a GitHub, owner: &str, number: u64) -> Self {
        let inside = github.shared.lock();
        let mut boards = inside.world.boards.iter();
        let index = boards.position(|board| {
            board.host == "github.com" && board.owner == owner && board.number == number
        });
        let index = index.expect("the board was added");
        Self { github, index }
    }

    fn change<T>(&self, change: impl FnOnce(&mut Board) -> T) -> T {
        change(&mut self.github.shared.lock().world.boards[self.index])
    }

    /// Puts an issue on the board, and returns the item's id.
    pub fn add_item(&self, repository: Repo<'_>, number: u64, status: &str) -> String {
        let id = self.github.shared.lock().world.id("PVTI");
        let item = BoardItem {
            id: id.clone(),
            content: (repository.index, number),
            values: BTreeMap::new(),
        };
        self.change(|board| board.items.push(item));
        self.set_status(number, status);
        id
    }

    /// A person moves the card.
    pub fn set_status(&self, number: u64, status: &str) {
        self.change(|board| {
            let field = board.field_named("Status").expect("the board has a Status");
            let FieldKind::SingleSelect(options) = &board.fields[field].kind else {
                panic!("Status is a single select");
            };
            let option = options.iter().find(|option| option.name == status);
            let option = option
                .unwrap_or_else(|| panic!("{status} is an option"))
                .id
                .clone();
            let field = board.fields[field].id.clone();
            let item = board.items.iter_mut().find(|item| item.content.1 == number);
            item.expect("the issue is on the board")
                .values
                .insert(field, option);
        });
    }

    /// Removes the field, as on a board that never had it.
    pub fn remove_field(&self, name: &str) {
        self.change(|board| board.fields.retain(|field| field.name != name));
    }

    /// Gives `Status` other options. Values that are set stay, but are not shown.
    pub fn set_statuses(&self, names: &[&str]) {
        let mut inside = self.github.shared.lock();
        let options = options(&mut inside.world, names);
        let board = &mut inside.world.boards[self.index];
        let field = board.field_named("Status").expect("the board has a Status");
        board.fields[field].kind = FieldKind::SingleSelect(options);
    }

    /// The item of this issue, as a person would read it.
    pub fn item(&self, number: u64) -> ItemValues {
        self.change(|board| {
            let item = board.items.iter().find(|item| item.content.1 == number);
            board.values(item.expect("the issue is on the board"))
        })
    }
}

fn options(world: &mut World, names: &[&str]) -> Vec<SelectOption> {
    names
        .iter()
        .map(|name| SelectOption {
            id: world.id("opt"),
            name: (*name).to_owned(),
        })
        .collect()
}
