//! Finds a signal in the agent's last message.

use mainspring_kernel::Digest;
use mainspring_kernel::spoken_signal::SpokenSignal;
use mainspring_store::digest;

use crate::context::EventContext;
use crate::signal::{self, Sighting, Signal};
use crate::transcript::Tail;

/// Which of the signals the agent said. We prefer the message that the host sends with the
/// event, because the transcript may lag behind.
pub(crate) fn heard<S>(
    context: &EventContext<'_>,
    signals: &[Signal],
    meaning: impl FnOnce(usize) -> S,
) -> SpokenSignal<S> {
    let Some(payload) = context.payload() else {
        return SpokenSignal::Nothing;
    };
    let sighting = match (&payload.last_message, context.tail()) {
        (Some(text), _) => signal::find(text, signals),
        (None, Some(tail)) => signal::find_last(texts(tail), signals),
        (None, None) => Sighting::Absent,
    };
    match sighting {
        Sighting::Said { signal, .. } => SpokenSignal::Said(meaning(signal)),
        Sighting::NearMiss(near) => SpokenSignal::Near(near.to_string()),
        Sighting::Absent => SpokenSignal::Nothing,
    }
}

/// A digest of what the agent said, to tell whether it says the same again.
pub(crate) fn digest_of(context: &EventContext<'_>) -> Option<Digest> {
    let payload = context.payload()?;
    let said = match &payload.last_message {
        Some(text) => text.trim().to_owned(),
        None => texts(context.tail()?).collect::<Vec<_>>().join("\n"),
    };
    (!said.is_empty()).then(|| digest::of(&[said.as_bytes()]))
}

/// What the agent said last, as the transcript has it. If the host does not send the message, it
/// may not record our blocks either, and the newest text counts.
fn texts(tail: &Tail) -> impl DoubleEndedIterator<Item = &str> {
    let texts = tail.final_texts.iter().chain(&tail.unproved_texts);
    texts.map(String::as_str)
}
