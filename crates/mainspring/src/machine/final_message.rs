//! Finds a signal in the agent's last message.

use mainspring_kernel::spoken_signal::SpokenSignal;

use crate::event_context::EventContext;
use crate::signal::{self, Sighting, Signal};

/// Which of the signals the agent said. We prefer the message that the host sends with the
/// event, because the transcript may lag behind.
pub(crate) fn heard<S>(
    context: &EventContext<'_>,
    signals: &[Signal],
    meaning: impl FnOnce(usize) -> S,
) -> SpokenSignal<S> {
    let Some(payload) = context.payload else {
        return SpokenSignal::Nothing;
    };
    let sighting = match (&payload.last_message, context.tail()) {
        (Some(text), _) => signal::find(text, signals),
        (None, Some(tail)) => {
            signal::find_last(tail.final_texts.iter().map(String::as_str), signals)
        }
        (None, None) => Sighting::Absent,
    };
    match sighting {
        Sighting::Said { signal, .. } => SpokenSignal::Said(meaning(signal)),
        Sighting::NearMiss(near) => SpokenSignal::Near(near.to_string()),
        Sighting::Absent => SpokenSignal::Nothing,
    }
}
