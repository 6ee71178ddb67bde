//! The types that exist: `schema.graphql`, read once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use super::ast::{Literal, TypeRef};
use super::lexer::{SyntaxError, Token};
use super::parser::Parser;

#[derive(Debug)]
pub(crate) struct Schema {
    types: BTreeMap<String, TypeDefinition>,
}

#[derive(Debug)]
pub(crate) enum TypeDefinition {
    Scalar,
    Enum(BTreeSet<String>),
    Input(BTreeMap<String, InputValue>),
    Object {
        implements: Vec<String>,
        fields: BTreeMap<String, FieldDefinition>,
    },
    Interface(BTreeMap<String, FieldDefinition>),
    Union(Vec<String>),
}

#[derive(Debug)]
pub(crate) struct FieldDefinition {
    pub(crate) arguments: BTreeMap<String, InputValue>,
    pub(crate) ty: TypeRef,
}

/// An argument, or a field of an input object.
#[derive(Debug)]
pub(crate) struct InputValue {
    pub(crate) ty: TypeRef,
    pub(crate) default: Option<Literal>,
}

impl InputValue {
    pub(crate) fn is_required(&self) -> bool {
        matches!(self.ty, TypeRef::NonNull(_)) && self.default.is_none()
    }
}

impl Schema {
    /// GitHub's schema, as far as the stand-in knows it.
    pub(crate) fn github() -> &'static Self {
        static SCHEMA: OnceLock<Schema> = OnceLock::new();
        SCHEMA.get_or_init(|| {
            Self::parse(include_str!("schema.graphql")).expect("schema.graphql is well-formed")
        })
    }

    fn parse(text: &str) -> Result<Self, SyntaxError> {
        let mut parser = Parser::new(text)?;
        let mut types = BTreeMap::new();
        while parser.peek().is_some() {
            let kind = parser.name()?;
            let name = parser.name()?;
            let definition = match kind.as_str() {
                "scalar" => TypeDefinition::Scalar,
                "enum" => TypeDefinition::Enum(enum_values(&mut parser)?),
                "input" => TypeDefinition::Input(input_values(&mut parser, '{', '}')?),
                "union" => TypeDefinition::Union(union_members(&mut parser)?),
                "interface" => TypeDefinition::Interface(fields(&mut parser)?),
                "type" => TypeDefinition::Object {
                    implements: implements(&mut parser)?,
                    fields: fields(&mut parser)?,
                },
                _ => return Err(parser.unexpected("a definition")),
            };
            types.insert(name, definition);
        }
        Ok(Self { types })
    }

    pub(crate) fn get(&self, name: &str) -> Option<&TypeDefinition> {
        self.types.get(name)
    }

    /// The fields of an object or interface.
    pub(crate) fn fields(&self, name: &str) -> Option<&BTreeMap<String, FieldDefinition>> {
        match self.get(name)? {
            TypeDefinition::Object { fields, .. } | TypeDefinition::Interface(fields) => {
                Some(fields)
            }
            TypeDefinition::Scalar
            | TypeDefinition::Enum(_)
            | TypeDefinition::Input(_)
            | TypeDefinition::Union(_) => None,
        }
    }

    /// Does this type have fields of its own?
    pub(crate) fn is_composite(&self, name: &str) -> bool {
        matches!(
            self.get(name),
            Some(
                TypeDefinition::Object { .. }
                    | TypeDefinition::Interface(_)
                    | TypeDefinition::Union(_)
            )
        )
    }

    /// The object types that a value of this type may have.
    pub(crate) fn possible(&self, name: &str) -> BTreeSet<&str> {
        match self.types.get_key_value(name) {
            Some((own, TypeDefinition::Object { .. })) => BTreeSet::from([own.as_str()]),
            Some((_, TypeDefinition::Union(members))) => {
                members.iter().map(String::as_str).collect()
            }
            Some((own, TypeDefinition::Interface(_))) => self
                .objects()
                .filter(|(_, implements)| implements.contains(own))
                .map(|(object, _)| object)
                .collect(),
            Some((
                _,
                TypeDefinition::Scalar | TypeDefinition::Enum(_) | TypeDefinition::Input(_),
            ))
            | None => BTreeSet::new(),
        }
    }

    fn objects(&self) -> impl Iterator<Item = (&str, &Vec<String>)> {
        self.types
            .iter()
            .filter_map(|(name, definition)| match definition {
                TypeDefinition::Object { implements, .. } => Some((name.as_str(), implements)),
                _ => None,
            })
    }
}

fn enum_values(parser: &mut Parser) -> Result<BTreeSet<String>, SyntaxError> {
    parser.expect('{')?;
    let mut values = BTreeSet::new();
    while !parser.takes('}') {
        values.insert(parser.name()?);
    }
    Ok(values)
}

fn union_members(parser: &mut Parser) -> Result<Vec<String>, SyntaxError> {
    parser.expect('=')?;
    let mut members = vec![parser.name()?];
    while parser.takes('|') {
        members.push(parser.name()?);
    }
    Ok(members)
}

fn implements(parser: &mut Parser) -> Result<Vec<String>, SyntaxError> {
    let mut interfaces = Vec::new();
    if parser.peek() == Some(&Token::Name("implements".to_owned())) {
        parser.name()?;
        interfaces.push(parser.name()?);
        while parser.takes('&') {
            interfaces.push(parser.name()?);
        }
    }
    Ok(interfaces)
}

fn fields(parser: &mut Parser) -> Result<BTreeMap<String, FieldDefinition>, SyntaxError> {
    parser.expect('{')?;
    let mut fields = BTreeMap::new();
    while !parser.takes('}') {
        let name = parser.name()?;
        let arguments = match parser.peek() {
            Some(Token::Punctuation('(')) => input_values(parser, '(', ')')?,
            _ => BTreeMap::new(),
        };
        parser.expect(':')?;
        let ty = parser.type_ref()?;
        fields.insert(name, FieldDefinition { arguments, ty });
    }
    Ok(fields)
}

fn input_values(
    parser: &mut Parser,
    open: char,
    close: char,
) -> Result<BTreeMap<String, InputValue>, SyntaxError> {
    parser.expect(open)?;
    let mut values = BTreeMap::new();
    while !parser.takes(close) {
        let name = parser.name()?;
        parser.expect(':')?;
        let ty = parser.type_ref()?;
        let default = if parser.takes('=') {
            Some(parser.literal()?)
        } else {
            None
        };
        values.insert(name, InputValue { ty, default });
    }
    Ok(values)
}
