//! What is kept, compared and recorded.

use core::fmt::Debug;
use core::hash::Hash;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// What every state, fact, effect and outcome must support: comparison, hashing by the model
/// checker, and writing to the journal.
pub trait Data: Debug + Clone + PartialEq + Eq + Hash + Serialize + DeserializeOwned {}
impl<T: Debug + Clone + PartialEq + Eq + Hash + Serialize + DeserializeOwned> Data for T {}

/// The effect or outcome of a machine that has none. No value of it exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, serde::Deserialize)]
pub enum Never {}
