//! What a person types while the agent is at work.
//!
//! The client puts it into a queue, and its transcript says so at once. A plain message may be
//! *absorbed*: the agent reads it in the middle of its turn. A command waits until the turn is
//! over, and a held turn may last for hours; so a person's order is looked for here at each stop
//! at which the agent would be held. What is found here is an order or nothing: it is never a
//! prompt, and never consent.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use crate::ids::Millis;

/// A line of the transcript that tells of the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueueLine {
    /// The person typed this, and it waits.
    Enqueued(Typed),
    /// What waited longest is carried out, at this time, if the client says so.
    Dequeued(Option<Millis>),
    /// This waits no longer.
    Removed(String),
    /// The person took everything back into the input.
    Emptied,
    /// The agent reads this in the middle of its turn.
    Absorbed(Typed),
    /// A turn begins with this.
    Prompt(String),
}

/// What a person typed, and when, if the client says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typed {
    pub at: Option<Millis>,
    pub text: String,
}

/// What was typed in this turn and waits, or was absorbed. The lines come oldest first, and so
/// does what is returned.
pub fn typed(lines: impl IntoIterator<Item = QueueLine>) -> Vec<Typed> {
    let Queue {
        waiting,
        mut absorbed,
        ..
    } = Queue::of(lines);
    absorbed.extend(waiting);
    absorbed.sort_by_key(|typed| typed.at);
    absorbed
}

/// When the person typed this, if it has waited until now: the client sends the event about it
/// right after it took it out of the queue.
pub fn waited(
    lines: impl IntoIterator<Item = QueueLine>,
    text: &str,
    now: Millis,
) -> Option<Millis> {
    let (typed, dequeued) = Queue::of(lines).dequeued?;
    let is_it = typed.text.trim() == text && now.since(dequeued?) < AT_ONCE;
    typed.at.filter(|_| is_it)
}

/// Measured: 50 ms. Nobody types a command again within this time.
const AT_ONCE: Millis = Millis::seconds(1);

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Typed>,
    absorbed: Vec<Typed>,
    /// What was taken out last, and when.
    dequeued: Option<(Typed, Option<Millis>)>,
}

impl Queue {
    fn of(lines: impl IntoIterator<Item = QueueLine>) -> Self {
        lines.into_iter().fold(Self::default(), Self::after)
    }

    fn after(mut self, line: QueueLine) -> Self {
        match line {
            QueueLine::Enqueued(typed) => self.waiting.push_back(typed),
            QueueLine::Dequeued(at) => {
                self.dequeued = self.waiting.pop_front().map(|typed| (typed, at));
            }
            QueueLine::Removed(text) => {
                let mut waiting = self.waiting.iter();
                let at = waiting.position(|typed| typed.text == text);
                at.and_then(|at| self.waiting.remove(at));
            }
            QueueLine::Emptied => self.waiting.clear(),
            QueueLine::Absorbed(typed) => self.absorbed.push(typed),
            QueueLine::Prompt(text) => {
                self.absorbed.clear();
                // Who types at rest has an empty queue: what seems to wait is left over from a
                // client that ended.
                if self
                    .dequeued
                    .take()
                    .is_none_or(|(typed, _)| typed.text != text)
                {
                    self.waiting.clear();
                }
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use alloc::borrow::ToOwned as _;
    use alloc::vec;

    use super::*;

    fn at(at: u64, text: &str) -> Typed {
        Typed {
            at: Some(Millis(at)),
            text: text.to_owned(),
        }
    }

    fn enqueued(when: u64, text: &str) -> QueueLine {
        QueueLine::Enqueued(at(when, text))
    }

    fn absorbed(when: u64, text: &str) -> QueueLine {
        QueueLine::Absorbed(at(when, text))
    }

    fn prompt(text: &str) -> QueueLine {
        QueueLine::Prompt(text.to_owned())
    }

    fn removed(text: &str) -> QueueLine {
        QueueLine::Removed(text.to_owned())
    }

    #[test]
    fn what_waits_or_was_absorbed_in_this_turn_is_found() {
        use QueueLine::{Dequeued, Emptied};
        let dequeued = Dequeued(None);
        for (lines, expected) in [
            (vec![prompt("do it")], vec![]),
            (
                vec![prompt("do it"), enqueued(1, "/stop")],
                vec![at(1, "/stop")],
            ),
            // The person changed their mind.
            (vec![prompt("do it"), enqueued(1, "/stop"), Emptied], vec![]),
            (
                vec![prompt("do it"), enqueued(1, "/stop"), removed("/stop")],
                vec![],
            ),
            // A message is removed because it was absorbed.
            (
                vec![
                    prompt("do it"),
                    enqueued(1, "stop"),
                    removed("stop"),
                    absorbed(1, "stop"),
                ],
                vec![at(1, "stop")],
            ),
            (
                vec![
                    prompt("do it"),
                    enqueued(1, "/stop"),
                    enqueued(2, "hello"),
                    removed("hello"),
                    absorbed(2, "hello"),
                ],
                vec![at(1, "/stop"), at(2, "hello")],
            ),
            // The turn is over, and it was carried out.
            (
                vec![prompt("do it"), enqueued(1, "/stop"), dequeued.clone()],
                vec![],
            ),
            // The turn is over, and the next one has begun with what waited longer.
            (
                vec![
                    prompt("do it"),
                    enqueued(1, "and that"),
                    enqueued(2, "/stop"),
                    dequeued.clone(),
                    prompt("and that"),
                ],
                vec![at(2, "/stop")],
            ),
            // It was absorbed in an earlier turn.
            (
                vec![prompt("do it"), absorbed(1, "stop"), prompt("more")],
                vec![],
            ),
            // The client ended while it waited, and another one goes on.
            (
                vec![prompt("do it"), enqueued(1, "/stop"), prompt("more")],
                vec![],
            ),
            // The part that was read begins in the middle of a queue.
            (vec![dequeued, removed("x"), Emptied], vec![]),
        ] {
            assert_eq!(typed(lines.clone()), expected, "{lines:?}");
        }
    }

    #[test]
    fn what_waited_is_known_only_right_after_it_was_taken_out() {
        let now = Millis::seconds(100);
        let taken = |ago: u64| QueueLine::Dequeued(Some(Millis(now.0 - ago)));
        for (lines, expected) in [
            (vec![enqueued(7, "/stop"), taken(50)], Some(Millis(7))),
            // It was typed at rest, and something like it had waited earlier.
            (vec![enqueued(7, "/stop"), taken(1_000)], None),
            (vec![enqueued(7, "/stop")], None),
            (vec![enqueued(7, "/resume"), taken(50)], None),
            (vec![enqueued(7, "/stop"), QueueLine::Dequeued(None)], None),
            (vec![taken(50)], None),
        ] {
            assert_eq!(waited(lines.clone(), "/stop", now), expected, "{lines:?}");
        }
    }
}
