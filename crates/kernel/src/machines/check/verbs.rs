//! The commands of `check`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Defined;
use crate::verbs::Refusal;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("no check is trusted in this project")]
    NoChecks,
    /// The project's file defines these, and nobody trusted them.
    #[error("no check is trusted in this project; mainspring.toml defines {}", .0.join(", "))]
    Waiting(Vec<String>),
    #[error("there is no check `{0}`")]
    Unknown(String, Vec<String>),
}

impl Refusal for Refused {
    fn next(&self) -> Vec<String> {
        match self {
            Self::NoChecks => Vec::from([
                "`mainspring check init` proposes some, and `mainspring trust` makes them count"
                    .into(),
            ]),
            Self::Waiting(_) => {
                Vec::from(["`mainspring trust` shows them and makes them count".into()])
            }
            Self::Unknown(_, known) => Vec::from([format!("the checks are {}", known.join(", "))]),
        }
    }
}

/// The checks that a command means: the one of this name, or all.
pub fn wanted<'a>(checks: &'a [Defined], name: Option<&str>) -> Result<Vec<&'a Defined>, Refused> {
    if checks.is_empty() {
        return Err(Refused::NoChecks);
    }
    let Some(name) = name else {
        return Ok(checks.iter().collect());
    };
    let found: Vec<_> = checks.iter().filter(|check| check.name == name).collect();
    if found.is_empty() {
        let known = checks.iter().map(|check| check.name.clone()).collect();
        return Err(Refused::Unknown(name.into(), known));
    }
    Ok(found)
}
