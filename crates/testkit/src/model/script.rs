//! Who says what, and in which order.

use std::collections::VecDeque;
use std::fmt;

use super::request::Request;
use super::turn::Turn;

/// The turns of a conversation, and of the other conversations that reach the
/// same server: a reviewer, a subagent.
#[derive(Debug)]
#[must_use]
pub struct Script {
    /// The special parts in the order they were named, the main part last.
    parts: Vec<Part>,
}

struct Part {
    name: String,
    plays: Box<dyn Fn(&Request) -> bool + Send>,
    turns: VecDeque<Turn>,
    ending: Ending,
}

type Improvise = Box<dyn Fn(&Request) -> Turn + Send>;

enum Ending {
    /// A request beyond the script is a mistake of the test.
    Over {
        asked_again: usize,
    },
    Improvised(Improvise),
}

impl Script {
    /// The main part answers every request that no other part is for.
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self { parts: vec![] }.when("main", |_| true, turns)
    }

    /// A part for a model, by a piece of its name: `for_model("opus", …)`.
    pub fn for_model(self, name: &str, turns: impl IntoIterator<Item = Turn>) -> Self {
        let piece = name.to_owned();
        self.when(name, move |request| request.model().contains(&piece), turns)
    }

    /// A part for all subagents. If there are several, [`Script::when_told`] distinguishes them.
    pub fn for_subagents(self, turns: impl IntoIterator<Item = Turn>) -> Self {
        self.when("subagents", |request| request.agent().is_some(), turns)
    }

    /// A part for requests with `text` in a message: a reviewer or a subagent is recognized by its
    /// prompt.
    pub fn when_told(self, text: &str, turns: impl IntoIterator<Item = Turn>) -> Self {
        let told = text.to_owned();
        self.when(text, move |request| request.has_text(&told), turns)
    }

    /// A part for the requests that `plays` picks, with a name for messages.
    pub fn when(
        mut self,
        name: &str,
        plays: impl Fn(&Request) -> bool + Send + 'static,
        turns: impl IntoIterator<Item = Turn>,
    ) -> Self {
        let part = Part {
            name: name.to_owned(),
            plays: Box::new(plays),
            turns: turns.into_iter().collect(),
            ending: Ending::Over { asked_again: 0 },
        };
        let before_main = self.parts.len().saturating_sub(1);
        self.parts.insert(before_main, part);
        self
    }

    /// What the last named part answers when its turns are used up, as often as it is asked.
    pub fn and_then_always(
        mut self,
        improvise: impl Fn(&Request) -> Turn + Send + 'static,
    ) -> Self {
        // The main part stays last, so the newest special part is before it.
        let newest = self.parts.len().saturating_sub(2);
        self.parts[newest].ending = Ending::Improvised(Box::new(improvise));
        self
    }

    /// The turn that answers `request`.
    pub(super) fn next(&mut self, request: &Request) -> Turn {
        let part = self
            .parts
            .iter_mut()
            .find(|part| (part.plays)(request))
            .expect("the main part plays for everybody");
        match (part.turns.pop_front(), &mut part.ending) {
            (Some(turn), _) => turn,
            (None, Ending::Improvised(improvise)) => improvise(request),
            (None, Ending::Over { asked_again }) => {
                *asked_again += 1;
                Turn::say(format!("(the script of {} is over)", part.name))
            }
        }
    }

    /// What did not go as scripted, one line per part.
    pub(super) fn loose_ends(&self) -> Vec<String> {
        self.parts
            .iter()
            .filter_map(|part| match (part.turns.len(), &part.ending) {
                (0, Ending::Over { asked_again: 0 } | Ending::Improvised(_)) => None,
                (0, Ending::Over { asked_again }) => Some(format!(
                    "{}: asked {asked_again} times more than scripted",
                    part.name
                )),
                (left, _) => Some(format!(
                    "{}: {left} turns were never asked for, first {:?}",
                    part.name, part.turns[0]
                )),
            })
            .collect()
    }
}

impl<Turns: IntoIterator<Item = Turn>> From<Turns> for Script {
    fn from(turns: Turns) -> Self {
        Self::new(turns)
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Part")
            .field("name", &self.name)
            .field("turns", &self.turns)
            .finish_non_exhaustive()
    }
}
