//! Tokens to a document or to a schema.

use std::collections::BTreeMap;

use super::ast::{
    Document, Field, Fragment, Literal, Operation, OperationKind, Place, Selection, TypeRef,
    VariableDefinition,
};
use super::lexer::{SyntaxError, Token, tokens};

/// Braces, brackets and wrappers may nest this deep.
const DEPTH_LIMIT: usize = 64;

pub(crate) fn document(text: &str) -> Result<Document, SyntaxError> {
    let mut parser = Parser::new(text)?;
    let mut document = Document {
        operations: Vec::new(),
        fragments: BTreeMap::new(),
    };
    while let Some(token) = parser.peek() {
        match token {
            Token::Punctuation('{') => document.operations.push(Operation {
                kind: OperationKind::Query,
                name: None,
                variables: Vec::new(),
                selections: parser.selections()?,
            }),
            Token::Name(word) if word == "query" => document
                .operations
                .push(parser.operation(OperationKind::Query)?),
            Token::Name(word) if word == "mutation" => {
                document
                    .operations
                    .push(parser.operation(OperationKind::Mutation)?);
            }
            Token::Name(word) if word == "fragment" => {
                let (name, fragment) = parser.fragment()?;
                document.fragments.insert(name, fragment);
            }
            _ => return Err(parser.unexpected("an operation or a fragment")),
        }
    }
    Ok(document)
}

pub(crate) struct Parser {
    tokens: Vec<(Token, Place)>,
    next: usize,
    depth: usize,
}

impl Parser {
    pub(crate) fn new(text: &str) -> Result<Self, SyntaxError> {
        Ok(Self {
            tokens: tokens(text)?,
            next: 0,
            depth: 0,
        })
    }

    pub(crate) fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|(token, _)| token)
    }

    fn place(&self) -> Place {
        let token = self.tokens.get(self.next).or(self.tokens.last());
        token.map(|(_, place)| *place).unwrap_or_default()
    }

    pub(crate) fn unexpected(&self, wanted: &str) -> SyntaxError {
        let got = self
            .peek()
            .map_or_else(|| "end of file".to_owned(), |token| format!("{token:?}"));
        SyntaxError {
            message: format!("Expected {wanted}, actual: {got}"),
            place: self.place(),
        }
    }

    /// Is the next token this one? If so, takes it.
    pub(crate) fn takes(&mut self, punctuation: char) -> bool {
        let found = self.peek() == Some(&Token::Punctuation(punctuation));
        self.next += usize::from(found);
        found
    }

    pub(crate) fn expect(&mut self, punctuation: char) -> Result<(), SyntaxError> {
        if self.takes(punctuation) {
            Ok(())
        } else {
            Err(self.unexpected(&format!("{punctuation:?}")))
        }
    }

    pub(crate) fn name(&mut self) -> Result<String, SyntaxError> {
        match self.peek() {
            Some(Token::Name(name)) => {
                let name = name.clone();
                self.next += 1;
                Ok(name)
            }
            _ => Err(self.unexpected("a name")),
        }
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Name(name)) if name == word);
        self.next += usize::from(found);
        found
    }

    fn nested<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, SyntaxError>,
    ) -> Result<T, SyntaxError> {
        if self.depth == DEPTH_LIMIT {
            return Err(self.unexpected("less nesting"));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn operation(&mut self, kind: OperationKind) -> Result<Operation, SyntaxError> {
        self.name()?;
        let name = match self.peek() {
            Some(Token::Name(_)) => Some(self.name()?),
            _ => None,
        };
        let mut variables = Vec::new();
        if self.takes('(') {
            while !self.takes(')') {
                variables.push(self.variable_definition()?);
            }
        }
        Ok(Operation {
            kind,
            name,
            variables,
            selections: self.selections()?,
        })
    }

    fn variable_definition(&mut self) -> Result<VariableDefinition, SyntaxError> {
        self.expect('$')?;
        let name = self.name()?;
        self.expect(':')?;
        let ty = self.type_ref()?;
        let default = if self.takes('=') {
            Some(self.literal()?)
        } else {
            None
        };
        Ok(VariableDefinition { name, ty, default })
    }

    fn fragment(&mut self) -> Result<(String, Fragment), SyntaxError> {
        self.name()?;
        let name = self.name()?;
        if !self.takes_word("on") {
            return Err(self.unexpected("\"on\""));
        }
        let on = self.name()?;
        let selections = self.selections()?;
        Ok((name, Fragment { on, selections }))
    }

    fn selections(&mut self) -> Result<Vec<Selection>, SyntaxError> {
        self.nested(|parser| {
            parser.expect('{')?;
            let mut selections = Vec::new();
            while !parser.takes('}') {
                selections.push(parser.selection()?);
            }
            Ok(selections)
        })
    }

    fn selection(&mut self) -> Result<Selection, SyntaxError> {
        if self.peek() != Some(&Token::Spread) {
            return self.field().map(Selection::Field);
        }
        self.next += 1;
        if self.takes_word("on") {
            let on = Some(self.name()?);
            let selections = self.selections()?;
            return Ok(Selection::Inline { on, selections });
        }
        if self.peek() == Some(&Token::Punctuation('{')) {
            let selections = self.selections()?;
            return Ok(Selection::Inline {
                on: None,
                selections,
            });
        }
        self.name().map(Selection::Spread)
    }

    fn field(&mut self) -> Result<Field, SyntaxError> {
        let place = self.place();
        let first = self.name()?;
        let (alias, name) = if self.takes(':') {
            (Some(first), self.name()?)
        } else {
            (None, first)
        };
        let mut arguments = Vec::new();
        if self.takes('(') {
            while !self.takes(')') {
                let argument = self.name()?;
                self.expect(':')?;
                arguments.push((argument, self.literal()?));
            }
        }
        let selections = match self.peek() {
            Some(Token::Punctuation('{')) => self.selections()?,
            _ => Vec::new(),
        };
        Ok(Field {
            alias,
            name,
            arguments,
            selections,
            place,
        })
    }

    pub(crate) fn type_ref(&mut self) -> Result<TypeRef, SyntaxError> {
        self.nested(|parser| {
            let ty = if parser.takes('[') {
                let inner = parser.type_ref()?;
                parser.expect(']')?;
                TypeRef::List(Box::new(inner))
            } else {
                TypeRef::Named(parser.name()?)
            };
            Ok(if parser.takes('!') {
                TypeRef::NonNull(Box::new(ty))
            } else {
                ty
            })
        })
    }

    pub(crate) fn literal(&mut self) -> Result<Literal, SyntaxError> {
        self.nested(Self::literal_here)
    }

    fn literal_here(&mut self) -> Result<Literal, SyntaxError> {
        if self.takes('$') {
            return self.name().map(Literal::Variable);
        }
        if self.takes('[') {
            let mut items = Vec::new();
            while !self.takes(']') {
                items.push(self.literal()?);
            }
            return Ok(Literal::List(items));
        }
        if self.takes('{') {
            let mut fields = Vec::new();
            while !self.takes('}') {
                let name = self.name()?;
                self.expect(':')?;
                fields.push((name, self.literal()?));
            }
            return Ok(Literal::Object(fields));
        }
        let literal = match self.peek() {
            Some(Token::Int(value)) => Literal::Int(*value),
            Some(Token::Float(value)) => Literal::Float(*value),
            Some(Token::String(value)) => Literal::String(value.clone()),
            Some(Token::Name(word)) => match word.as_str() {
                "true" => Literal::Boolean(true),
                "false" => Literal::Boolean(false),
                "null" => Literal::Null,
                other => Literal::Enum(other.to_owned()),
            },
            _ => return Err(self.unexpected("a value")),
        };
        self.next += 1;
        Ok(literal)
    }
}
