//! `mainspring gate check`: was the token said?

use std::path::PathBuf;

use mainspring_kernel::SessionId;
use mainspring_store::{ShownPath as _, atomic};

use crate::command::{CommandContext, Result};
use crate::error::CliError;
use crate::hook::input;
use crate::hosts;
use crate::limits;
use crate::machines::gate::token;
use crate::people::which_session;
use crate::signal::{self, Sighting, Signal};
use crate::transcript::{LastBlock, Transcript};

#[derive(Debug, clap::Args)]
pub(super) struct Check {
    /// The session whose token to look for: its id, the beginning of it, or `last` for the live
    /// one here
    #[arg(long, value_name = which_session::VALUE)]
    session: String,
    /// A transcript, or the agent's final message as text; `-` reads it from stdin; default: the
    /// session's own transcript
    file: Option<PathBuf>,
}

pub(super) fn run(cmd: &CommandContext, check: &Check) -> Result {
    let id = which_session::of_text(cmd, &check.session)?;
    let (project, store) = which_session::project_of(cmd, &id)?;
    let config = cmd.config(&project, &store)?;
    let token = token(&config, &id);
    let (shown, text) = match &check.file {
        Some(file) if file.as_os_str() == "-" => ("stdin".into(), Text::Read(input::whole()?)),
        Some(file) => Text::in_file(cmd.cwd.join(file)),
        None => Text::in_file(transcript_of(cmd, &id)?),
    };
    match sighting(cmd, text, &token)? {
        Sighting::Said { line, .. } => Ok(format!(
            "{} was said: {shown}, line {line} of the final message\n",
            token.line()
        )),
        Sighting::NearMiss(near) => Err(CliError::not_found(format!(
            "{} was not said in {shown}",
            token.line()
        ))
        .hint(near.to_string())),
        Sighting::Absent => Err(CliError::not_found(format!(
            "{} was not said in {shown}",
            token.line()
        ))
        .hint("the agent must say it in its final message, on a line of its own")),
    }
}

/// Where the text is.
enum Text {
    InFile(PathBuf),
    Read(Vec<u8>),
}

impl Text {
    fn in_file(path: PathBuf) -> (String, Self) {
        (path.shown(), Self::InFile(path))
    }
}

fn transcript_of(cmd: &CommandContext, id: &SessionId) -> Result<PathBuf> {
    let find = hosts::of_environment(&cmd.env).transcript.find;
    find(&cmd.env, id).ok_or_else(|| {
        CliError::not_found(format!("no transcript of session {id} was found"))
            .hint("name the file: `mainspring gate check --session ID FILE`")
    })
}

/// A transcript is one JSON object per line; anything else is the final message itself.
fn sighting(cmd: &CommandContext, text: Text, token: &Signal) -> Result<Sighting> {
    let transcript = match &text {
        Text::InFile(path) => Transcript::open(path).map_err(CliError::new)?,
        Text::Read(bytes) => Transcript::of_bytes("stdin", bytes.clone()),
    };
    let entry = hosts::of_environment(&cmd.env).transcript.entry;
    let tail = transcript
        .tail(entry, LastBlock::None)
        .map_err(CliError::new)?;
    if !tail.final_texts.is_empty() {
        let texts = tail.final_texts.iter().map(String::as_str);
        return Ok(signal::find_last(texts, std::slice::from_ref(token)));
    }
    let bytes = match text {
        Text::InFile(path) => atomic::read(&path, limits::STDIN)?.unwrap_or_default(),
        Text::Read(bytes) => bytes,
    };
    let text = String::from_utf8_lossy(&bytes);
    let is_transcript = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .is_some_and(|line| serde_json::from_str::<serde_json::Map<_, _>>(line).is_ok());
    if is_transcript {
        return Ok(Sighting::Absent);
    }
    Ok(signal::find(&text, std::slice::from_ref(token)))
}
