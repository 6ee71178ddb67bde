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
        Sighting::Said { .. } if is_past(context) => {
            SpokenSignal::Near("said before the user's last prompt: say it again".into())
        }
        Sighting::Said { signal, .. } => SpokenSignal::Said(meaning(signal)),
        Sighting::NearMiss(near) => SpokenSignal::Near(near.to_string()),
        Sighting::Absent => SpokenSignal::Nothing,
    }
}

/// Is this the stop of an earlier turn, given to us once more? What was said then does not
/// answer what the user has asked for since.
fn is_past(context: &EventContext<'_>) -> bool {
    let prompt = context
        .payload
        .and_then(|payload| payload.prompt_id.as_ref());
    let (Some(prompt), Some(transcript)) = (prompt, context.transcript()) else {
        return false;
    };
    let turn = context.host().transcript.turn;
    transcript.is_past(prompt, turn).unwrap_or(false)
}
