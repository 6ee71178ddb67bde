//! Text to tokens.

use super::ast::Place;

/// A document longer than this is refused: no client of ours writes one.
const DOCUMENT_LIMIT: usize = 256 << 10;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Name(String),
    Int(i64),
    Float(f64),
    String(String),
    /// One of `! $ & ( ) : = @ [ ] { | }`.
    Punctuation(char),
    Spread,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct SyntaxError {
    pub(crate) message: String,
    pub(crate) place: Place,
}

pub(crate) fn tokens(text: &str) -> Result<Vec<(Token, Place)>, SyntaxError> {
    let mut lexer = Lexer {
        rest: text,
        place: Place { line: 1, column: 1 },
    };
    if text.len() > DOCUMENT_LIMIT {
        return Err(lexer.error("the document is too long"));
    }
    let mut tokens = Vec::new();
    loop {
        lexer.skip_ignored();
        let place = lexer.place;
        match lexer.token()? {
            Some(token) => tokens.push((token, place)),
            None => return Ok(tokens),
        }
    }
}

struct Lexer<'a> {
    rest: &'a str,
    place: Place,
}

impl<'a> Lexer<'a> {
    fn error(&self, message: &str) -> SyntaxError {
        SyntaxError {
            message: message.to_owned(),
            place: self.place,
        }
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        for character in taken.chars() {
            if character == '\n' {
                self.place.line += 1;
                self.place.column = 1;
            } else {
                self.place.column += 1;
            }
        }
        self.rest = rest;
        taken
    }

    fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        self.take(end)
    }

    /// White space, commas, comments and a byte-order mark mean nothing.
    fn skip_ignored(&mut self) {
        loop {
            self.take_while(|c| matches!(c, ' ' | '\t' | '\n' | '\r' | ',' | '\u{feff}'));
            if !self.rest.starts_with('#') {
                return;
            }
            self.take_while(|c| c != '\n');
        }
    }

    fn token(&mut self) -> Result<Option<Token>, SyntaxError> {
        let Some(first) = self.rest.chars().next() else {
            return Ok(None);
        };
        if self.rest.starts_with("...") {
            self.take(3);
            return Ok(Some(Token::Spread));
        }
        if self.rest.starts_with("\"\"\"") {
            return self.block_string().map(Some);
        }
        match first {
            '!' | '$' | '&' | '(' | ')' | ':' | '=' | '@' | '[' | ']' | '{' | '|' | '}' => {
                self.take(1);
                Ok(Some(Token::Punctuation(first)))
            }
            '"' => self.string().map(Some),
            'A'..='Z' | 'a'..='z' | '_' => {
                let name = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
                Ok(Some(Token::Name(name.to_owned())))
            }
            '-' | '0'..='9' => self.number().map(Some),
            other => Err(self.error(&format!(
                "Expected one of the GraphQL tokens, actual: {other:?}"
            ))),
        }
    }

    fn number(&mut self) -> Result<Token, SyntaxError> {
        let place = self.place;
        let text =
            self.take_while(|c| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E'));
        if let Ok(int) = text.parse() {
            return Ok(Token::Int(int));
        }
        text.parse().map(Token::Float).map_err(|_| SyntaxError {
            message: format!("{text:?} is no number"),
            place,
        })
    }

    fn string(&mut self) -> Result<Token, SyntaxError> {
        self.take(1);
        let mut value = String::new();
        loop {
            let Some(next) = self.rest.chars().next() else {
                return Err(self.error("the string does not end"));
            };
            self.take(next.len_utf8());
            match next {
                '"' => return Ok(Token::String(value)),
                '\n' => return Err(self.error("the string does not end on its line")),
                '\\' => value.push(self.escape()?),
                other => value.push(other),
            }
        }
    }

    fn escape(&mut self) -> Result<char, SyntaxError> {
        let Some(kind) = self.rest.chars().next() else {
            return Err(self.error("the string does not end"));
        };
        self.take(kind.len_utf8());
        Ok(match kind {
            '"' | '\\' | '/' => kind,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let code = self
                    .rest
                    .get(..4)
                    .and_then(|hex| u32::from_str_radix(hex, 16).ok());
                let character = code.and_then(char::from_u32);
                let character =
                    character.ok_or_else(|| self.error("\\u wants four hexadecimal digits"))?;
                self.take(4);
                character
            }
            other => return Err(self.error(&format!("\\{other} is no escape"))),
        })
    }

    fn block_string(&mut self) -> Result<Token, SyntaxError> {
        self.take(3);
        let Some(end) = self.rest.find("\"\"\"") else {
            return Err(self.error("the block string does not end"));
        };
        let value = self.take(end).trim().to_owned();
        self.take(3);
        Ok(Token::String(value))
    }
}
