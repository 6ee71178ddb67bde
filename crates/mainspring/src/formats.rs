//! The functions that read what somebody else wrote: a host's events and transcripts, files
//! that people, agents and other tools edit, the output of `gh` and of a reviewer. (The journal
//! is read by the store.) For a file that we also write, the writer is here, too. Each function
//! takes any bytes; `crates/fuzz` states what must hold for every input, and tests it.

/// A hook's stdin.
pub mod event {
    pub use crate::hosts::{DecodeAs, DecodeError, Payload};

    pub fn decode(bytes: Vec<u8>, known: DecodeAs) -> Result<Payload, DecodeError> {
        let env = crate::env::Environment::real();
        crate::hosts::decode(&env, bytes, known, None)
    }
}

/// The end of a session's transcript.
pub mod transcript {
    use crate::transcript::LastBlock;
    pub use crate::transcript::{Tail, Transcript, repair};

    pub fn tail(transcript: &Transcript) -> Option<Tail> {
        let entry = crate::hosts::DEFAULT.transcript.entry;
        transcript.tail(entry, LastBlock::None).ok()
    }
}

/// The signals that an agent may say in its final text.
pub mod signal {
    pub use crate::signal::{Sighting, Signal, find, find_last};
}

/// A skill's `fsm.json`, and the position of a value in it.
pub mod task_list {
    pub use crate::machines::tasks::commands::spans::{Element, elements, place};
    pub use crate::machines::tasks::source::{Fault, Source};
}

/// The client's list of installed plugins.
pub mod plugins {
    pub use crate::hosts::plugins::{Install, applicable, parse};
}

/// A plan's `state.json`.
pub mod plan {
    pub use crate::machines::review::record::{read, write};
}

/// What a reviewer printed.
pub mod verdict {
    pub use crate::hosts::reviewer::Said;

    pub fn read(stdout: &[u8]) -> Option<Said> {
        (crate::hosts::reviewer::DEFAULT.read)(stdout)
    }
}

/// `.agent-claim.json`.
pub mod claim {
    pub use crate::machines::claim::file::{Read, read, write};
}

/// A project's checks, what they print, and the receipt in a pull request.
pub mod check {
    use std::path::Path;

    use mainspring_kernel::Millis;

    pub use crate::machines::tree::pattern::matches as is_input;

    /// The name, the timeout and the pinned files of each check.
    pub fn definitions(text: &str) -> Result<Vec<(String, Millis, Vec<String>)>, String> {
        let all = crate::config::checks::of(Path::new("mainspring.toml"), text);
        let all = all.map_err(|trouble| trouble.to_string())?.into_iter();
        Ok(all
            .map(|check| (check.name, check.timeout, check.pins))
            .collect())
    }

    /// What an agent reads of it.
    pub fn output(bytes: &[u8]) -> String {
        crate::machines::check::quoted_output(bytes)
    }

    /// The receipt as it stands in a pull request.
    pub fn receipt(text: &str) -> Result<String, String> {
        crate::machines::check::CheckReceipt::read(text).map(|receipt| receipt.markdown())
    }
}

/// What `gh api --include` printed.
pub mod github {
    pub use crate::machines::claim::gh::{Reply, parse};
    pub use crate::machines::claim::poll::read as pull_request;
}

/// A loop's state as a JSON document.
pub mod loop_document {
    pub use crate::machines::looping::doc::{read, write};
}

/// A loop's state as a page of Markdown.
pub mod loop_page {
    pub use crate::machines::looping::markdown::{prompt, read, write};
}
