//! A setting as data: its name, its type, its default, and who may set it.

use std::fmt;

use mainspring_kernel::Millis;
use mainspring_kernel::retention::DAY;
use serde::Serialize;

use crate::timestamp::span;

/// One setting. Machines bring their own; the reference and the schema are made from it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// `section.name`.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// As one would write it in the file.
    pub(crate) default: &'static str,
    pub(crate) reach: Reach,
    pub(crate) variable: Option<&'static str>,
    pub(crate) about: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Switch,
    Number {
        most: u64,
    },
    Text,
    Choice(&'static [&'static str]),
    /// A time span: `90s`, `30m`, `2h`, `90d`.
    Span,
    /// Texts, in their order.
    List,
    /// Dollars, with cents.
    Amount,
}

/// Who may set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// A repository's file may set it too.
    Anyone,
    /// Only the user may set it, because it decides what is executed.
    User,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Value {
    Switch(bool),
    Number(u64),
    Text(String),
    Span(Millis),
    List(Vec<String>),
    /// In millionths.
    Amount(u64),
}

impl Value {
    pub(crate) fn switch(&self) -> bool {
        matches!(self, Self::Switch(true))
    }

    pub(crate) fn number(&self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Switch(_) | Self::Text(_) | Self::Span(_) | Self::List(_) | Self::Amount(_) => {
                None
            }
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Switch(_) | Self::Number(_) | Self::Span(_) | Self::List(_) | Self::Amount(_) => {
                None
            }
        }
    }

    pub(crate) fn span(&self) -> Option<Millis> {
        match self {
            Self::Span(span) => Some(*span),
            Self::Switch(_) | Self::Number(_) | Self::Text(_) | Self::List(_) | Self::Amount(_) => {
                None
            }
        }
    }

    pub(crate) fn amount(&self) -> Option<u64> {
        match self {
            Self::Amount(micros) => Some(*micros),
            Self::Switch(_) | Self::Number(_) | Self::Text(_) | Self::Span(_) | Self::List(_) => {
                None
            }
        }
    }

    pub(crate) fn list(&self) -> Option<&[String]> {
        match self {
            Self::List(list) => Some(list),
            Self::Switch(_) | Self::Number(_) | Self::Text(_) | Self::Span(_) | Self::Amount(_) => {
                None
            }
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch(on) => write!(f, "{on}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Span(span) if span.0 > 0 && span.0 % DAY.0 == 0 => {
                write!(f, "\"{}d\"", span.0 / DAY.0)
            }
            Self::Span(span) => write!(f, "\"{}s\"", span.0 / 1_000),
            Self::List(list) => write!(f, "{list:?}"),
            Self::Amount(micros) => {
                write!(
                    f,
                    "{}.{:02}",
                    micros / 1_000_000,
                    micros % 1_000_000 / 10_000
                )
            }
        }
    }
}

impl Key {
    pub(crate) fn default_value(&self) -> Value {
        // A test parses every default.
        self.parse(self.default)
            .unwrap_or_else(|_| Value::Text(self.default.into()))
    }

    /// From a text, as a variable has it. A list is separated by commas.
    pub(crate) fn parse(&self, text: &str) -> Result<Value, String> {
        match self.kind {
            Kind::Switch => match text {
                "1" | "true" | "on" | "yes" => Ok(Value::Switch(true)),
                "0" | "false" | "off" | "no" => Ok(Value::Switch(false)),
                other => Err(format!("{other:?} is neither true nor false")),
            },
            Kind::Number { most } => text
                .trim()
                .parse::<u64>()
                .ok()
                .filter(|number| *number <= most)
                .map(Value::Number)
                .ok_or_else(|| format!("{text:?} is not a whole number from 0 to {most}")),
            Kind::Text => Ok(Value::Text(text.into())),
            Kind::Choice(choices) => {
                if choices.contains(&text) {
                    Ok(Value::Text(text.into()))
                } else {
                    Err(format!("{text:?} is none of {}", choices.join(", ")))
                }
            }
            Kind::Span => span(text).map(Value::Span),
            Kind::Amount => amount(text).map(Value::Amount),
            Kind::List => Ok(Value::List(
                text.split(',')
                    .map(str::trim)
                    .filter(|item| !item.is_empty())
                    .map(str::to_owned)
                    .collect(),
            )),
        }
    }
}

/// Dollars such as `5` or `0.50`, in millionths.
fn amount(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is no amount: write 5 or 0.50");
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 6 || whole.len() > 9 {
        return Err(wrong());
    }
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    let part: u64 = format!("{part:0<6}").parse().map_err(|_| wrong())?;
    Ok(whole * 1_000_000 + part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_a_value_of_its_kind() {
        for key in crate::machines::keys() {
            assert!(key.parse(key.default).is_ok(), "{}", key.name);
        }
    }

    #[test]
    fn amounts_are_kept_to_the_last_digit() {
        for (text, micros) in [
            ("0", 0),
            ("5", 5_000_000),
            ("0.50", 500_000),
            ("1.000001", 1_000_001),
        ] {
            assert_eq!(amount(text), Ok(micros), "{text}");
        }
        for wrong in ["", "-1", "1.", ".5", "1e3", "1.0000001", "9999999999"] {
            assert!(amount(wrong).is_err(), "{wrong}");
        }
    }
}
