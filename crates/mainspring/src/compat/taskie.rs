//! The drop-in for the public Stop hook of Taskie.
//!
//! It exits with 2 for input that it cannot use, as the script does; but never after a hook
//! has already continued the agent, because hosts take 2 for a block. Otherwise it exits with
//! 0 and prints one JSON object.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use mainspring_kernel::decision::Voice;
use mainspring_kernel::deliberate::Ruling;
use mainspring_kernel::effect::EffectStatus;
use mainspring_kernel::event::{Background, Chain, Event, Kind};
use mainspring_kernel::journal::Entry;
use mainspring_kernel::machines::review::cycle::{CLEAN_ENOUGH, Cycle};
use mainspring_kernel::machines::review::table::{Row, Status};
use mainspring_kernel::machines::review::{
    Asker, Failure, Finding, Kind as ReviewKind, Request, Review, State, Upshot, Verdict, messages,
    structure,
};
use mainspring_kernel::machines::{InputOf, MachineInput};
use mainspring_kernel::{Answer, Decision, Name, Note};
use mainspring_platform::path;
use serde_json::Value;

use super::Reply;
use mainspring_store::ShownPath as _;

use crate::context::{Caller, EventContext};
use crate::env::Environment;
use crate::hook::drive::drive_for_drop_in;
use crate::hook::input::Input;
use crate::hosts::text::clean;
use crate::hosts::{self, DecodeAs, Payload};
use crate::machines;
use crate::project::{Bound, Contents, Project};
use crate::store::{ProjectStore, StateDir};

/// Input that it cannot use. The script lets the agent stop all the same.
const UNUSABLE: u8 = 2;

pub(super) fn run(env: &Environment, _: &[OsString], input: Input) -> Reply {
    let (payload, chain) = match read(env, input) {
        Ok(read) => read,
        Err(problem) => return unusable(&format!("Invalid JSON input: {problem}")),
    };
    let named = match (&payload.cwd, chain) {
        (None, Chain::First) => super::stop::own_directory(),
        (cwd, _) => cwd.clone(),
    };
    let root = named.as_deref().and_then(real);
    match (root, chain) {
        (Some(root), _) => decide(env, payload, chain, root),
        (None, Chain::Continued) => quiet(),
        (None, Chain::First) => {
            let named = named.unwrap_or_default();
            unusable(&format!(
                "Cannot change to project directory: {}",
                named.shown()
            ))
        }
    }
}

fn read(env: &Environment, input: Input) -> Result<(Payload, Chain), String> {
    let bytes = match input {
        Input::Bytes(bytes) => bytes,
        Input::TooLarge => return Err("it is too large".into()),
        Input::Unreadable(error) => return Err(error),
    };
    let _: Value = mainspring_json::read(&bytes).map_err(|error| error.to_string())?;
    let payload =
        hosts::decode(env, bytes, DecodeAs::Stop, None).map_err(|error| error.to_string())?;
    let chain = match payload.event.kind {
        Kind::Stop { chain, .. } => chain,
        _ => Chain::First,
    };
    Ok((payload, chain))
}

fn real(cwd: &Path) -> Option<PathBuf> {
    path::real(cwd).ok().filter(|cwd| cwd.is_dir())
}

/// The script changes into the directory, and looks for plans there and nowhere else.
fn decide(env: &Environment, mut payload: Payload, chain: Chain, root: PathBuf) -> Reply {
    payload.event.kind = Kind::Stop {
        chain,
        background: Background::Quiet,
    };
    let Some(state) = StateDir::of(env) else {
        let note = "there is no place for mainspring's state: set HOME or XDG_STATE_HOME";
        return encode(&Answer::fault(&payload.event.kind, note));
    };
    let project = Project {
        ignored: Vec::new(),
        worktree: root.clone(),
        bound: Bound::Yes,
        contents: Contents::Something,
        root,
    };
    let store = ProjectStore::new(state, &project.root);
    let payload = &payload;
    let caller = Caller::DropIn {
        machine: Name::Review,
        payload,
        adapt: Some(adapt),
    };
    let context = EventContext::new(env, (project, store), caller);
    match machines::applies(Name::Review, &context) {
        Ok(false) => quiet(),
        Ok(true) => {
            let (answer, entry) = drive_for_drop_in(&context, payload, Name::Review);
            let stop = entry.as_ref().and_then(Stop::of);
            reply(&answer.without_optional_notes(), stop.as_ref())
        }
        Err(trouble) => encode(&Answer::fault(&payload.event.kind, trouble.to_string())),
    }
}

/// What the machine gets: the counts are the file's, reviewers give a verdict alone, and a review
/// that failed is tried anew in each turn.
fn adapt(event: &Event, input: &mut MachineInput) {
    let MachineInput::Review(input) = input else {
        return;
    };
    let facts = &mut input.facts;
    facts.asker = Asker::Unknown;
    facts.settings.findings = false;
    let State::Plan(plan) = &mut input.state else {
        return;
    };
    let (fields, memory) = (&plan.fields, &mut plan.memory);
    if let Kind::Stop {
        chain: Chain::First,
        ..
    } = event.kind
    {
        memory.changed();
    }
    let Some(key) = fields.cycle() else { return };
    if let Some(task) = &key.task
        && !facts.tasks.may_have(task)
    {
        // The script does not look for the task in the table.
        let (id, status) = (task.clone(), Status::Pending);
        facts.tasks.rows.push(Row { id, status });
    }
    let done = fields.phase_iteration.unwrap_or(0);
    let known = memory.in_cycle(&key).cloned();
    let mut cycle = known.unwrap_or_else(|| Cycle {
        number: done,
        ..Cycle::new(key)
    });
    cycle.done = done;
    // After two clean ones the cycle would be over.
    cycle.streak = fields.consecutive_clean.min(CLEAN_ENOUGH - 1);
    // The script does not ask which tasks came later.
    cycle.open = facts.tasks.open_beside(None).count();
    memory.cycle = Some(cycle);
}

/// What the machine decided at a stop, and from what.
struct Stop<'a> {
    plan: &'a str,
    input: &'a InputOf<Review>,
    upshot: Upshot,
}

impl<'a> Stop<'a> {
    fn of(entry: &'a Entry) -> Option<Self> {
        let Entry::Turn { case, ruling } = entry else {
            return None;
        };
        let Ruling::Settled(settlement) = &**ruling else {
            return None;
        };
        let MachineInput::Review(input) = case.inputs.first()? else {
            return None;
        };
        Some(Self {
            plan: input.state.memory()?.0,
            input,
            upshot: Upshot::of(settlement.transitions.first()?.rule()),
        })
    }

    fn reviewed(&self) -> Option<(&Request, &Finding)> {
        match &self.input.effect_status {
            EffectStatus::Done(intent, outcome) => Some((&intent.effect, &outcome.result)),
            _ => None,
        }
    }

    /// The words that users of the public hook grep for. The document fixes none here.
    fn words(&self) -> Option<String> {
        let fields = &self.input.state.plan()?.fields;
        Some(match (self.upshot, self.reviewed()) {
            (Upshot::Skipped, _) => "Reviews disabled (max_reviews=0)".into(),
            (Upshot::Limit, _) => format!("Max review limit ({}) reached", fields.max_reviews),
            (Upshot::NoSubject, _) => match fields.awaited() {
                Some(ReviewKind::Code) => "Task file not found".into(),
                _ => "No task files found".into(),
            },
            (_, Some((_, Finding::NotDone(Failure::NoProgram(_))))) => {
                "claude CLI not found".into()
            }
            (_, Some((_, Finding::NotDone(_)))) => "Review failed".into(),
            _ => return None,
        })
    }
}

/// The machine's answer as the script gives it.
fn reply(answer: &Answer, stop: Option<&Stop<'_>>) -> Reply {
    let Some(stop) = stop else {
        return encode(answer);
    };
    // A review that counts, or that nobody wants, is nothing to be warned of.
    let unsaid = matches!(
        stop.reviewed(),
        Some((_, Finding::Reviewed(Verdict::Unsaid)))
    );
    let counts = matches!(
        stop.upshot,
        Upshot::Reviewed | Upshot::Passed | Upshot::Skipped
    );
    let is_good = counts && !unsaid;
    let approval = structure::approval(stop.plan);
    let all = answer.notes.iter().filter(|note| note.text != approval);
    let bad = |note: &&Note| !is_good || note.by != Voice::Machine(Name::Review);
    let texts = |note: &Note| note.text.clone();
    let words = stop.words();
    let mut notes: Vec<String> = words
        .iter()
        .cloned()
        .chain(all.clone().map(texts))
        .collect();
    let words = words.filter(|_| !is_good).into_iter();
    let warnings: Vec<String> = words.chain(all.filter(bad).map(texts)).collect();
    let hold = match (&answer.decision, stop.upshot, stop.reviewed()) {
        (Decision::Stop { hold }, ..) if hold.is_empty() => None,
        (_, Upshot::Reviewed, Some((asked, _))) => Some(block(asked)),
        (decision, ..) => held(decision),
    };
    if let Upshot::Kept | Upshot::Limit = stop.upshot {
        notes.insert(0, approval);
    }
    said(hold, &notes, &warnings)
}

/// The reason that holds the agent, so that it answers a review.
fn block(request: &Request) -> String {
    let Request {
        review, iteration, ..
    } = request;
    let dir = messages::directory(&request.plan);
    let file = request.file();
    let answer = review.answer_file(request.task.as_ref(), *iteration);
    let (article, work, ending) = match review {
        ReviewKind::Plan => ("A", "address all issues in plan.md", "Push to remote."),
        ReviewKind::Tasks => (
            "A",
            "address all issues in tasks.md and task files",
            "Push to remote.",
        ),
        ReviewKind::Code => (
            "A",
            "address all issues, update the code",
            "Update tasks.md and push to remote.",
        ),
        ReviewKind::AllCode => (
            "An",
            "address all issues across all tasks",
            "Update tasks.md and push to remote.",
        ),
    };
    format!(
        "{article} {} (iteration {iteration}) has been written to {dir}/{file} by an independent \
         reviewer. Read this review file and perform the {post} action: {work}, then create \
         {dir}/{answer} documenting your fixes. AFTER completing all post-review work and writing \
         the post-review file, run {advance}. (Without that command, update \
         state.json atomically: read the current file, modify only phase and next_phase, write the \
         complete JSON back via a temp file and mv; set phase to \"{post}\", set next_phase to \
         \"{action}\". Keep all other fields (max_reviews, current_task, phase_iteration, \
         review_model, consecutive_clean, tdd) unchanged.) {ending} (To stop the review loop, set \
         next_phase to null in state.json.)",
        review.label(),
        advance = messages::command(&request.plan, &format!("advance {}", review.answer())),
        post = review.answer(),
        action = review.action(),
    )
}

/// An answer that is about no plan.
fn encode(answer: &Answer) -> Reply {
    let notes: Vec<String> = answer.notes.iter().map(|note| note.text.clone()).collect();
    said(held(&answer.decision), &notes, &notes)
}

fn held(decision: &Decision) -> Option<String> {
    match decision {
        Decision::Stop { hold } if !hold.is_empty() => Some(hold.text()),
        _ => None,
    }
}

fn said(hold: Option<String>, notes: &[String], warnings: &[String]) -> Reply {
    let lines = notes.iter().map(|note| clean(note));
    let lines = lines.collect::<Vec<_>>().join("\n");
    let stdout = match hold {
        Some(reason) => super::stop::block(&clean(&reason)),
        None if notes.is_empty() => quiet().stdout,
        None => super::spaced(&[
            ("systemMessage", lines.into()),
            ("suppressOutput", true.into()),
        ]),
    };
    let warnings = warnings.iter();
    let warnings = warnings.map(|note| format!("Warning: {}", clean(note)));
    Reply {
        stdout,
        stderr: warnings.collect::<Vec<_>>().join("\n"),
        code: 0,
    }
}

fn quiet() -> Reply {
    Reply {
        stdout: super::spaced(&[("suppressOutput", true.into())]),
        stderr: String::new(),
        code: 0,
    }
}

fn unusable(problem: &str) -> Reply {
    Reply {
        stdout: String::new(),
        stderr: format!("Error: {problem}"),
        code: UNUSABLE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainspring_kernel::Millis;
    use mainspring_kernel::machines::review::{Progress, TaskId};

    #[test]
    fn the_four_blocks() {
        let texts = ReviewKind::ALL.map(|review| {
            block(&Request {
                plan: "demo".into(),
                review,
                task: (review == ReviewKind::Code).then(|| TaskId::parse("1").unwrap()),
                iteration: 1,
                model: "opus".into(),
                progress: Progress::default(),
                tasks: Vec::new(),
                ledger: None,
                not_before: Millis(0),
                resumes: Vec::new(),
            })
        });
        insta::assert_snapshot!(texts.join("\n\n"));
    }
}
