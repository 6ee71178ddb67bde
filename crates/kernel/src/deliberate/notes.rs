//! What the person reads about a stop, whichever machine spoke.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::block_ledger::{BlockLedger, Cap, SAME_ANSWERS};
use crate::decision::{HoldTexts, Note, Voice, listed};
use crate::event::Kind;
use crate::name::Name;
use crate::orders::TypedHere;

fn speakers(texts: &HoldTexts) -> Vec<&'static str> {
    let mut names: Vec<&str> = texts.iter().map(|one| one.by.as_str()).collect();
    names.dedup();
    names
}

pub(super) fn names(texts: &HoldTexts) -> String {
    listed(&speakers(texts))
}

/// Nobody reads the notes of a watcher.
pub(super) fn untrusted_note(name: Name, kind: &Kind) -> Option<Note> {
    (*kind != Kind::Watch).then(|| Note {
        by: Voice::Machine(name),
        text: format!(
            "{name} wants to start a program, but this project is not trusted yet: \
             `mainspring trust` allows it"
        ),
    })
}

/// Said once for several holds in a row; at every hold it would only be noise.
pub(super) fn held_note(hold: &HoldTexts, typed: TypedHere) -> Note {
    let speakers = speakers(hold);
    let keep = match speakers.len() {
        1 => "keeps",
        _ => "keep",
    };
    // `stop` would stop every machine here, also for later.
    let end = match speakers.as_slice() {
        [one] if *one == Name::Loop.as_str() => "loop abort",
        _ => "stop",
    };
    let here = match typed {
        TypedHere::AtOnce => "ends it",
        TypedHere::AfterEsc => {
            "in a terminal ends it; here, press Esc first and then type `mainspring stop`"
        }
    };
    Note::optional(format!(
        "{} {keep} the agent going. `mainspring why` tells more, `mainspring {end}` {here}",
        listed(&speakers)
    ))
}

pub(super) fn capped_note(hold: &HoldTexts, ledger: &BlockLedger, cap: Cap) -> Note {
    let why = match cap {
        Cap::After(_) | Cap::Never => {
            " without tool use, because the host would override the next one"
        }
        Cap::InTurn(_) => ", because the host would override the next one",
        Cap::Ours(_) => " without tool use, which is `host.cap`: this host has no limit of its own",
    };
    Note::ours(format!(
        "let go after {} blocks in a row{why}. Still waiting: {}. Say \"continue\" to go on, or \
         `mainspring why` for the reasons",
        ledger.blocks,
        names(hold)
    ))
}

pub(super) fn same_answer_note(hold: &HoldTexts) -> Note {
    Note::ours(format!(
        "let go, because the agent gave the same answer {SAME_ANSWERS} times in a row and used no \
         tool. Still waiting: {}. Tell it what to do, or `mainspring why` for the reasons",
        names(hold)
    ))
}
