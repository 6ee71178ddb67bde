//! What the user wrote last in a client, by the host's own record.

use std::time::Duration;

use mainspring_kernel::SessionId;
use mainspring_kernel::machines::last_word::LastWord;

use crate::command::CommandContext;
use crate::hosts;
use crate::transcript::Transcript;

/// How long the client may take to write a prompt into its transcript.
pub(crate) const LAG: Duration = Duration::from_secs(3);

/// What the user wrote last in this session; the record may lag behind the events. What an agent
/// wrote to a client that it started is no user's.
pub(crate) fn in_transcript(cmd: &CommandContext, session: &SessionId) -> Option<LastWord> {
    if cmd.env.is_nested() {
        return None;
    }
    let format = &hosts::of_environment(&cmd.env).transcript;
    let path = (format.find)(&cmd.env, session)?;
    let transcript = Transcript::open(&path).ok()?;
    let exchange = transcript
        .last_exchange(format.prompt, format.entry)
        .ok()??;
    Some(LastWord {
        at: exchange.prompt.at?,
        text: exchange.prompt.text,
        after: exchange.after,
    })
}
