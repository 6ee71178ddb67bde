//! A Projects v2 board: fields, options, items, values.

use std::collections::BTreeMap;

/// The options that a board's `Status` starts with.
pub const STATUSES: [&str; 4] = ["Todo", "In Progress", "In Review", "Done"];

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Board {
    pub(crate) id: String,
    pub(crate) host: String,
    pub(crate) owner: String,
    pub(crate) number: u64,
    pub(crate) title: String,
    pub(crate) fields: Vec<BoardField>,
    pub(crate) items: Vec<BoardItem>,
    /// How often a value was set or cleared.
    pub(crate) writes: u32,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct BoardField {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) kind: FieldKind,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum FieldKind {
    /// The item's title: every board has it, and nobody may set it here.
    Title,
    Text,
    SingleSelect(Vec<SelectOption>),
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct SelectOption {
    pub(crate) id: String,
    pub(crate) name: String,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct BoardItem {
    pub(crate) id: String,
    /// The repository, by its index, and the number in it.
    pub(crate) content: (usize, u64),
    /// Field id to text or option id.
    pub(crate) values: BTreeMap<String, String>,
}

/// An item as a test sees it: values by the names of fields and options.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ItemValues {
    pub id: String,
    pub number: u64,
    pub values: BTreeMap<String, String>,
}

impl BoardField {
    /// What a person would read in this field of this item.
    pub(crate) fn shown(&self, item: &BoardItem) -> Option<String> {
        let value = item.values.get(&self.id)?;
        match &self.kind {
            FieldKind::Title | FieldKind::Text => Some(value.clone()),
            FieldKind::SingleSelect(options) => {
                let option = options.iter().find(|option| &option.id == value)?;
                Some(option.name.clone())
            }
        }
    }
}

impl Board {
    pub(crate) fn field_named(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }

    pub(crate) fn field_with_id(&self, id: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.id == id)
    }

    pub(crate) fn item_with_id(&self, id: &str) -> Option<usize> {
        self.items.iter().position(|item| item.id == id)
    }

    pub(crate) fn values(&self, item: &BoardItem) -> ItemValues {
        ItemValues {
            id: item.id.clone(),
            number: item.content.1,
            values: self
                .fields
                .iter()
                .filter_map(|field| Some((field.name.clone(), field.shown(item)?)))
                .collect(),
        }
    }

    /// Sets a text or an option, or returns GitHub's message why not.
    pub(crate) fn set(
        &mut self,
        item: usize,
        field: usize,
        value: &NewValue,
    ) -> Result<(), String> {
        let field = &self.fields[field];
        let stored = match (&field.kind, value) {
            (FieldKind::Text, NewValue::Text(text)) => text.clone(),
            (FieldKind::SingleSelect(options), NewValue::Option(id)) => {
                if !options.iter().any(|option| &option.id == id) {
                    return Err(
                        "The single select option Id does not belong to the field".to_owned()
                    );
                }
                id.clone()
            }
            (FieldKind::SingleSelect(_), NewValue::Text(_)) => {
                return Err("Did not receive a single select option Id to update a field of type single_select".to_owned());
            }
            (FieldKind::Text, NewValue::Option(_)) => {
                return Err(
                    "Did not receive a text value to update a field of type text".to_owned(),
                );
            }
            (FieldKind::Title, _) => {
                return Err("The field of type title is currently not supported.".to_owned());
            }
        };
        self.items[item].values.insert(field.id.clone(), stored);
        self.writes += 1;
        Ok(())
    }

    pub(crate) fn clear(&mut self, item: usize, field: usize) {
        self.items[item].values.remove(&self.fields[field].id);
        self.writes += 1;
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum NewValue {
    Text(String),
    Option(String),
}
