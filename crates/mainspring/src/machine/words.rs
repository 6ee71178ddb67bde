//! The agent's own words at a stop, for the machines that listen for a signal.

use mainspring_kernel::heard::Heard;

use crate::scene::Scene;
use crate::signal::{self, Sighting, Signal};

/// Which of the signals the agent said. The host's own word for its last message does not
/// lag behind; the transcript is for hosts that do not give it.
pub(crate) fn heard<S>(
    scene: &Scene<'_>,
    signals: &[Signal],
    meaning: impl FnOnce(usize) -> S,
) -> Heard<S> {
    let Some(payload) = scene.payload else {
        return Heard::Nothing;
    };
    let sighting = match (&payload.last_message, scene.tail()) {
        (Some(text), _) => signal::find(text, signals),
        (None, Some(tail)) => {
            signal::find_last(tail.final_texts.iter().map(String::as_str), signals)
        }
        (None, None) => Sighting::Absent,
    };
    match sighting {
        Sighting::Said { signal, .. } => Heard::Said(meaning(signal)),
        Sighting::NearMiss(near) => Heard::Near(near.to_string()),
        Sighting::Absent => Heard::Nothing,
    }
}
