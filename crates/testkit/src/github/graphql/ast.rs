//! A GraphQL document, as far as `gh` and our own queries use it.

use std::collections::BTreeMap;
use std::fmt;

/// A position in the document, counted from 1 as GitHub does.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) operations: Vec<Operation>,
    pub(crate) fragments: BTreeMap<String, Fragment>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum OperationKind {
    Query,
    Mutation,
}

#[derive(Debug)]
pub(crate) struct Operation {
    pub(crate) kind: OperationKind,
    pub(crate) name: Option<String>,
    pub(crate) variables: Vec<VariableDefinition>,
    pub(crate) selections: Vec<Selection>,
}

#[derive(Debug)]
pub(crate) struct VariableDefinition {
    pub(crate) name: String,
    pub(crate) ty: TypeRef,
    pub(crate) default: Option<Literal>,
}

#[derive(Debug)]
pub(crate) struct Fragment {
    pub(crate) on: String,
    pub(crate) selections: Vec<Selection>,
}

#[derive(Debug)]
pub(crate) enum Selection {
    Field(Field),
    Spread(String),
    Inline {
        on: Option<String>,
        selections: Vec<Selection>,
    },
}

#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) alias: Option<String>,
    pub(crate) name: String,
    pub(crate) arguments: Vec<(String, Literal)>,
    pub(crate) selections: Vec<Selection>,
    pub(crate) place: Place,
}

impl Field {
    /// The name of this field in the answer.
    pub(crate) fn key(&self) -> &str {
        self.alias.as_deref().unwrap_or(&self.name)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    Variable(String),
    Int(i64),
    Float(f64),
    String(String),
    Boolean(bool),
    Null,
    Enum(String),
    List(Vec<Literal>),
    Object(Vec<(String, Literal)>),
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum TypeRef {
    Named(String),
    List(Box<TypeRef>),
    NonNull(Box<TypeRef>),
}

impl TypeRef {
    /// The type without its wrappers.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Named(name) => name,
            Self::List(inner) | Self::NonNull(inner) => inner.name(),
        }
    }
}

impl fmt::Display for TypeRef {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => out.write_str(name),
            Self::List(inner) => write!(out, "[{inner}]"),
            Self::NonNull(inner) => write!(out, "{inner}!"),
        }
    }
}
