//! A setting: its name, its type, its default, who may set it, and what it does, declared once
//! ([`settings!`]). The reference, the schema, `mainspring config` and the readers of files and
//! variables are made from that.

use std::borrow::Cow;
use std::fmt;

use mainspring_kernel::Millis;
use mainspring_kernel::retention::DAY;
use serde::Serialize;

use super::Settings;
use crate::timestamp::span;

pub(crate) type Text = Cow<'static, str>;
/// Texts, in their order.
pub(crate) type List = Cow<'static, [Text]>;

/// What is known about a setting, and its place in [`Settings`].
#[derive(Debug)]
pub(crate) struct Key {
    /// `section.name`.
    pub(crate) name: &'static str,
    pub(crate) notation: Notation,
    pub(crate) reach: Reach,
    pub(crate) variable: Option<&'static str>,
    pub(crate) about: &'static str,
    pub(crate) get: fn(&Settings) -> Value,
    /// A value of another notation changes nothing.
    pub(crate) set: fn(&mut Settings, Value),
}

/// What can be written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Notation {
    Switch,
    Number {
        most: u64,
    },
    Text,
    Choice(&'static [&'static str]),
    /// A time span: `90s`, `30m`, `2h`, `90d`.
    Span,
    List,
    /// Dollars, with cents.
    Amount,
}

/// Who may set it. The user may set everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// A trusted project's file, whatever its version: it starts nothing, speaks to nobody and
    /// lets no agent go earlier.
    Anyone,
    /// The version of a project's file that a person trusted: it starts something, speaks to
    /// somebody or weakens a hold, so a change asks again.
    Trusted,
    /// Only the user, because it decides what is executed.
    User,
}

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writer {
    Project,
    User,
}

/// A setting's value, whatever its type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Value {
    Switch(bool),
    Number(u64),
    Text(Text),
    Span(Millis),
    List(List),
    Amount(Amount),
}

/// Dollars, in millionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Amount(pub(crate) u64);

/// Declares a section: its struct, the defaults, and the keys by which the rest of the world
/// knows its fields. `at` is the section's field in [`Settings`].
///
/// A field's doc is its help. Behind the default stand who may set it, for a number the most
/// that it may be, and a variable that overrides the files.
macro_rules! settings {
    (
        [$section:tt] $name:ident at $place:ident {$(
            $(#[doc = $about:literal])+
            $field:ident: $type:ty = $default:expr, $reach:ident
                $(, most $most:literal)? $(, variable $variable:literal)?;
        )+}
    ) => {
        #[doc = concat!("The settings of `[", stringify!($section), "]`.")]
        #[derive(Debug)]
        pub(crate) struct $name {
            $($(#[doc = $about])+ pub(crate) $field: $type,)+
        }

        impl $name {
            pub(crate) const DEFAULT: Self = Self { $($field: $default,)+ };

            pub(crate) const KEYS: &[$crate::config::Key] = &[$($crate::config::Key {
                name: concat!(stringify!($section), ".", stringify!($field)),
                notation: <$type as $crate::config::Setting>::NOTATION$(.up_to($most))?,
                reach: $crate::config::Reach::$reach,
                variable: [$($variable)?].first().copied(),
                about: concat!($($about),+).trim_ascii(),
                get: |settings| $crate::config::Setting::value(&settings.$place.$field),
                set: |settings, value| {
                    if let Some(value) = $crate::config::Setting::of(value) {
                        settings.$place.$field = value;
                    }
                },
            },)+];
        }
    };
}
pub(crate) use settings;

/// A list, as whoever keeps it wants it.
pub(crate) fn owned(list: &[Text]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

/// A type that a setting can have.
pub(crate) trait Setting: Sized {
    const NOTATION: Notation;

    fn value(&self) -> Value;

    /// `None`: the value is of another notation.
    fn of(value: Value) -> Option<Self>;
}

/// A type whose values have names.
pub(crate) trait Choice: Copy + PartialEq + 'static {
    const WORDS: &'static [&'static str];
    /// In the order of their words.
    const VALUES: &'static [Self];
}

impl<T: Choice> Setting for T {
    const NOTATION: Notation = Notation::Choice(T::WORDS);

    fn value(&self) -> Value {
        let mut pairs = T::WORDS.iter().zip(T::VALUES);
        let pair = pairs.find(|(_, value)| *value == self);
        Value::Text(pair.map_or("", |(word, _)| word).into())
    }

    fn of(value: Value) -> Option<Self> {
        let Value::Text(text) = value else {
            return None;
        };
        let mut pairs = T::WORDS.iter().zip(T::VALUES);
        pairs
            .find(|(word, _)| **word == text)
            .map(|(_, value)| *value)
    }
}

macro_rules! setting_types {
    ($($type:ty: $variant:ident, $notation:expr;)+) => {$(
        impl Setting for $type {
            const NOTATION: Notation = $notation;

            fn value(&self) -> Value {
                Value::$variant(self.clone())
            }

            fn of(value: Value) -> Option<Self> {
                match value {
                    Value::$variant(value) => Some(value),
                    _ => None,
                }
            }
        }
    )+};
}

setting_types! {
    bool: Switch, Notation::Switch;
    u64: Number, Notation::Number { most: i64::MAX.unsigned_abs() };
    Text: Text, Notation::Text;
    Millis: Span, Notation::Span;
    List: List, Notation::List;
    Amount: Amount, Notation::Amount;
}

impl Setting for u32 {
    const NOTATION: Notation = Notation::Number {
        most: u32::MAX as u64,
    };

    fn value(&self) -> Value {
        Value::Number((*self).into())
    }

    fn of(value: Value) -> Option<Self> {
        u64::of(value)?.try_into().ok()
    }
}

impl Notation {
    pub(crate) const fn up_to(self, most: u64) -> Self {
        match self {
            Self::Number { .. } => Self::Number { most },
            other => other,
        }
    }

    /// From a text, as a variable has it. A list is separated by commas.
    pub(crate) fn parse(self, text: &str) -> Result<Value, String> {
        match self {
            Self::Switch => match text {
                "1" | "true" | "on" | "yes" => Ok(Value::Switch(true)),
                "0" | "false" | "off" | "no" => Ok(Value::Switch(false)),
                other => Err(format!("{other:?} is neither true nor false")),
            },
            Self::Number { most } => text
                .trim()
                .parse::<u64>()
                .ok()
                .filter(|number| *number <= most)
                .map(Value::Number)
                .ok_or_else(|| format!("{text:?} is not a whole number from 0 to {most}")),
            Self::Choice(choices) if !choices.contains(&text) => {
                Err(format!("{text:?} is none of {}", choices.join(", ")))
            }
            Self::Text | Self::Choice(_) => Ok(Value::Text(text.to_owned().into())),
            Self::Span => span(text).map(Value::Span),
            Self::Amount => amount(text).map(Value::Amount),
            Self::List => {
                let items = text.split(',').map(str::trim);
                let items = items.filter(|item| !item.is_empty());
                Ok(Value::List(
                    items.map(|item| item.to_owned().into()).collect(),
                ))
            }
        }
    }
}

/// Dollars such as `5` or `0.50`.
fn amount(text: &str) -> Result<Amount, String> {
    let wrong = || format!("{text:?} is no amount: write 5 or 0.50");
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 6 || whole.len() > 9 {
        return Err(wrong());
    }
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    let part: u64 = format!("{part:0<6}").parse().map_err(|_| wrong())?;
    Ok(Amount(whole * 1_000_000 + part))
}

/// As it is written in a file.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch(_) | Self::Number(_) | Self::Amount(_) => f.write_str(&self.plain()),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Span(_) => write!(f, "\"{}\"", self.plain()),
            Self::List(list) => write!(f, "{list:?}"),
        }
    }
}

impl Value {
    /// Without quotes, as it is written in a variable.
    pub(crate) fn plain(&self) -> String {
        match self {
            Self::Switch(on) => on.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.to_string(),
            Self::Span(span) => {
                if span.0 > 0 && span.0.is_multiple_of(DAY.0) {
                    return format!("{}d", span.0 / DAY.0);
                }
                format!("{}s", span.0 / 1_000)
            }
            Self::List(list) => list.join(","),
            Self::Amount(Amount(micros)) => {
                let cents = micros / 10_000;
                format!("{}.{:02}", cents / 100, cents % 100)
            }
        }
    }
}

impl Key {
    pub(crate) fn default(&self) -> Value {
        (self.get)(&Settings::DEFAULT)
    }

    /// The default as a person would write it.
    pub(crate) fn default_text(&self) -> String {
        match self.default() {
            Value::Span(span) if span < DAY => span.in_words(),
            value => value.plain(),
        }
    }

    /// The section, and the name in it.
    pub(crate) fn halves(&self) -> (&'static str, &'static str) {
        self.name.split_once('.').unwrap_or(("", self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_can_be_written_and_read_again() {
        for key in crate::config::keys() {
            let default = key.default();
            assert_eq!(
                key.notation.parse(&default.plain()),
                Ok(default),
                "{}",
                key.name
            );
        }
    }

    #[test]
    fn a_value_is_stored_in_its_own_field() {
        let mut settings = Settings::DEFAULT;
        for key in crate::config::keys() {
            let other = match key.notation {
                Notation::Switch => Value::Switch(key.default() == Value::Switch(false)),
                Notation::Number { most } => Value::Number(most),
                Notation::Text => Value::Text("other".into()),
                Notation::Choice(words) => Value::Text(words[words.len() - 1].into()),
                Notation::Span => Value::Span(Millis(77_000)),
                Notation::List => Value::List(vec!["other".into()].into()),
                Notation::Amount => Value::Amount(Amount(7)),
            };
            (key.set)(&mut settings, other.clone());
            assert_eq!((key.get)(&settings), other, "{}", key.name);
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
            assert_eq!(amount(text), Ok(Amount(micros)), "{text}");
        }
        for wrong in ["", "-1", "1.", ".5", "1e3", "1.0000001", "9999999999"] {
            assert!(amount(wrong).is_err(), "{wrong}");
        }
    }
}
