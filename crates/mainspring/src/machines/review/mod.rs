//! The shell of `review`: it reads plans and their `state.json`, and runs reviewers.

pub(crate) mod attempt;
pub(crate) mod commands;
pub(crate) mod directory;
pub(crate) mod history;
mod library;
pub(crate) mod memories;
mod reading;
pub(crate) mod record;
pub(crate) mod reviewer;
pub(crate) mod settings;
mod subject;

use std::path::{Path, PathBuf};

use mainspring_kernel::SessionId;
use mainspring_kernel::effect::Intent;
use mainspring_kernel::event::Kind as EventKind;
use mainspring_kernel::journal::FileChange;
use mainspring_kernel::machines::check::Occasion;
use mainspring_kernel::machines::review::cycle::CycleKey;
use mainspring_kernel::machines::review::findings::{self, Reply};
use mainspring_kernel::machines::review::standstill::Standstill;
use mainspring_kernel::machines::review::table::Tasks;
use mainspring_kernel::machines::review::verbs::{self, Refused};
use mainspring_kernel::machines::review::{
    AnswerFile, Asker, Facts, Fields, Kind, Lack, Memory, OtherSessions, Outcome, Phase, Plan,
    Review, Settings, State, messages, structure,
};
use mainspring_kernel::machines::{InputOf, Name, TransitionOf};
use mainspring_store::{Trouble, atomic, no_symlink};

use self::directory::{PLANS, PlanDir, STATE};
use self::memories::Memories;
use super::{FoundFile, HandedOn, Loaded, MachineShell};
use crate::children::permit::Permit;
use crate::context::EventContext;
use crate::limits;
use crate::people::orders;
use crate::people::sessions;

#[derive(Debug)]
pub(crate) struct Shell;

impl MachineShell for Shell {
    type Machine = Review;
    type Found = Found;

    const ABOUT: &'static str = "reviews plan, tasks and code until two reviews in a row are clean";

    fn applies(context: &EventContext<'_>) -> Result<bool, Trouble> {
        let concerns = context.payload().is_none_or(|payload| {
            matches!(
                payload.event.kind,
                EventKind::Stop { .. }
                    | EventKind::SessionStart { .. }
                    | EventKind::SessionEnd { .. }
                    | EventKind::Prompt { .. }
            )
        });
        Ok(concerns
            && !context.is_vacant()
            && context.project.has(PLANS)
            && context.heeds_repository())
    }

    fn load(
        context: &EventContext<'_>,
        subject: Option<&str>,
    ) -> Result<Option<Loaded<Self>>, Trouble> {
        let Some(opened) = open(context, subject)? else {
            return Ok(None);
        };
        let facts = facts(context, &opened)?;
        let found = Found {
            plan: opened.dir.id,
            memories: opened.memories,
            state_file: opened.state_file,
        };
        let input = InputOf::new(opened.state, facts);
        Ok(Some(Loaded { input, found }))
    }

    fn subject(found: &Found) -> Option<&str> {
        Some(&found.plan)
    }

    fn files(
        _: &EventContext<'_>,
        input: &InputOf<Review>,
        found: &Found,
        transition: &TransitionOf<Review>,
    ) -> Result<Vec<FileChange>, Trouble> {
        let (before, after) = (&input.state, &transition.state);
        let mut changes = Vec::new();
        if before.memory() != after.memory() {
            changes.extend(found.memories.remember(after)?);
        }
        if let Some(plan) = after.plan()
            && before.plan().map(|plan| &plan.fields) != Some(&plan.fields)
        {
            changes.push(write_state(&found.state_file, &plan.fields));
        }
        Ok(changes)
    }

    fn run(
        context: &EventContext<'_>,
        permit: Permit,
        intent: &Intent<Review>,
        _: &mut HandedOn,
    ) -> Outcome {
        reviewer::run(context, &permit, intent)
    }

    fn occasions(context: &EventContext<'_>) -> Vec<Occasion> {
        if !context.project.has(PLANS) {
            return Vec::new();
        }
        let opened = open(context, None).ok().flatten();
        let Some(plan) = opened.as_ref().and_then(|opened| opened.state.plan()) else {
            return Vec::new();
        };
        let fields = &plan.fields;
        let due = fields.due().map(|_| Occasion::Review);
        let completes = fields.completes_task().then_some(Occasion::Complete);
        due.into_iter().chain(completes).collect()
    }

    fn waits_for_trust(context: &EventContext<'_>) -> Option<String> {
        let brought = context.project.has(PLANS).then(|| open(context, None));
        let opened = brought?.ok()??;
        let plan = opened.state.plan()?;
        match standstill(context, plan).ok()?? {
            (review, still @ Standstill::Untrusted) => Some(still.sentence(&plan.id, review)),
            _ => None,
        }
    }

    fn works_for(input: &InputOf<Review>, session: &SessionId) -> bool {
        input.state.owner() == Some(session)
    }

    fn summary(input: &InputOf<Review>) -> String {
        let settings = &input.facts.settings;
        let plan = input.state.plan();
        let still = plan.and_then(|plan| Standstill::of(plan, settings));
        describe(&input.state, settings, still)
    }

    fn summary_here(context: &EventContext<'_>, input: &InputOf<Review>) -> String {
        let plan = input.state.plan();
        match plan.map_or(Ok(None), |plan| standstill(context, plan)) {
            Ok(still) => describe(&input.state, &input.facts.settings, still),
            Err(_) => Self::summary(input),
        }
    }
}

/// What a plan was loaded from.
#[derive(Debug)]
pub(crate) struct Found {
    plan: String,
    memories: Memories,
    state_file: FoundFile,
}

/// A plan, and the files that a change of it needs.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) dir: PlanDir,
    pub(crate) state: State,
    pub(crate) warnings: Vec<String>,
    pub(crate) memories: Memories,
    pub(crate) state_file: FoundFile,
}

impl Opened {
    /// The plan, if its `state.json` can be read.
    pub(crate) fn plan(&self) -> Result<&Plan, Refused> {
        verbs::recorded(&self.state)
    }

    pub(crate) fn memory(&self) -> Memory {
        self.memories.of(&self.dir.id)
    }
}

/// The folder that `.taskie` is in.
pub(crate) fn home_of_plans(context: &EventContext<'_>) -> PathBuf {
    let plans = context.project.file(PLANS);
    let home = plans.ancestors().nth(2).map(Path::to_owned);
    home.unwrap_or_else(|| context.root().to_owned())
}

/// The plan of that name. Without a name, the most recently changed plan that does not belong
/// to another session.
pub(crate) fn open(
    context: &EventContext<'_>,
    named: Option<&str>,
) -> Result<Option<Opened>, Trouble> {
    let memories = Memories::read(context)?;
    let mut plans = directory::all(&context.project.file(PLANS))?;
    let Some(at) = choose(context, named, &plans, &memories) else {
        return Ok(None);
    };
    let dir = plans.swap_remove(at);
    let path = dir.path.join(STATE);
    let bytes = no_symlink::read(&path, limits::STATE_FILE)?;
    let (fields, warnings) = record::read(bytes.as_deref());
    Ok(Some(Opened {
        state: State::of(dir.id.clone(), fields, memories.of(&dir.id)),
        warnings,
        memories,
        state_file: FoundFile { path, bytes },
        dir,
    }))
}

fn choose(
    context: &EventContext<'_>,
    named: Option<&str>,
    plans: &[PlanDir],
    memories: &Memories,
) -> Option<usize> {
    if let Some(id) = named {
        return plans.iter().position(|plan| plan.id == id);
    }
    if plans.len() < 2 {
        return (!plans.is_empty()).then_some(0);
    }
    let session = context.session();
    let foreign = |plan: &PlanDir| {
        let owner = memories.owner(&plan.id);
        owner.is_some() && session.is_some() && owner != session.as_ref()
    };
    let own = |plan: &PlanDir| session.is_some() && memories.owner(&plan.id) == session.as_ref();
    plans
        .iter()
        .position(|plan| own(plan) && awaits_review(plan))
        .or_else(|| plans.iter().position(|plan| !foreign(plan)))
        .or(Some(0))
}

/// The plans whose `state.json` does not say what comes next, and why.
pub(crate) fn broken_states(context: &EventContext<'_>) -> Result<Vec<(String, String)>, Trouble> {
    let mut broken = Vec::new();
    for dir in directory::all(&context.project.file(PLANS))? {
        let problem = match read_fields(&dir)? {
            Err(Lack::Missing) => None,
            Err(Lack::Unreadable(problem)) => Some(problem),
            Ok(fields) => fields.undecidable().map(|(field, phase)| {
                format!("{field} in state.json is {phase:?}, which is no phase")
            }),
        };
        broken.extend(problem.map(|problem| (dir.id, problem)));
    }
    Ok(broken)
}

/// What a plan's `state.json` says.
pub(crate) fn read_fields(dir: &PlanDir) -> Result<Result<Fields, Lack>, Trouble> {
    let bytes = no_symlink::read(&dir.path.join(STATE), limits::STATE_FILE)?;
    Ok(record::read(bytes.as_deref()).0)
}

/// Is a review due, or the answer to one?
fn awaits_review(plan: &PlanDir) -> bool {
    matches!(read_fields(plan), Ok(Ok(fields)) if fields.awaited().is_some())
}

/// The models of the reviewers; they take turns.
pub(crate) fn models(context: &EventContext<'_>) -> Result<Vec<String>, Trouble> {
    Ok(settings::of(context)?.models)
}

/// The limit on the cost of a plan's reviews, in millionths of a dollar.
pub(crate) fn max_cost(context: &EventContext<'_>) -> Result<Option<u64>, Trouble> {
    Ok(settings::of(context)?.max_cost)
}

/// The text of one of a plan's files; `None` if it does not exist.
pub(crate) fn text(dir: &PlanDir, name: &str) -> Result<Option<String>, Trouble> {
    if !dir.has(name) {
        return Ok(None);
    }
    let bytes = no_symlink::read(&dir.path.join(name), limits::STATE_FILE)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

fn facts(context: &EventContext<'_>, opened: &Opened) -> Result<Facts, Trouble> {
    let tasks = text(&opened.dir, "tasks.md")?;
    let mut facts = Facts {
        asker: if context.is_by_command() {
            Asker::Command
        } else {
            Asker::Session(OtherSessions::Alone)
        },
        violations: structure::violations(structure::Directory {
            names: &opened.dir.names,
            nested: opened.dir.nested,
            tasks: tasks.as_deref(),
        }),
        warnings: opened.warnings.clone(),
        tasks: tasks.as_deref().map(Tasks::parse).unwrap_or_default(),
        written: Vec::new(),
        answer: AnswerFile::Missing,
        replies: Vec::new(),
        unrecorded: false,
        settings: settings::of(context)?,
    };
    match &opened.state {
        State::Nothing => {}
        State::Bare(plan) => {
            facts.unrecorded = plan.lack == Lack::Missing && is_new(context, &opened.dir);
        }
        State::Plan(plan) => look_at_review(context, &opened.dir, plan, &mut facts)?,
    }
    Ok(facts)
}

/// What there is of the review that is due, or waits for its answer.
fn look_at_review(
    context: &EventContext<'_>,
    dir: &PlanDir,
    plan: &Plan,
    facts: &mut Facts,
) -> Result<(), Trouble> {
    let Some(key) = plan.fields.cycle() else {
        return Ok(());
    };
    facts.written = written(dir, &plan.fields, key.review);
    if let (Asker::Session(company), None) = (&mut facts.asker, &plan.memory.owner) {
        *company = super::other_sessions::of(context);
    }
    facts.replies = replies(dir, plan, &key)?;
    if let Some(review) = plan.fields.unanswered() {
        let number = plan.memory.number(&plan.fields);
        facts.answer = answer(dir, &plan.fields, review, number);
    }
    Ok(())
}

/// Was `plan.md` written since this session began, which is alone here?
fn is_new(context: &EventContext<'_>, dir: &PlanDir) -> bool {
    let session = context.session();
    let began = session.and_then(|id| sessions::find(context.store.state(), &id));
    let written = directory::written(&dir.path.join("plan.md"));
    let (Some(began), Some(written)) = (began, written) else {
        return false;
    };
    let since = written
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    since.as_millis() >= u128::from(began.at.0)
        && super::other_sessions::of(context) == OtherSessions::Alone
}

/// The numbers of the existing reviews of this kind.
fn written(dir: &PlanDir, fields: &Fields, review: Kind) -> Vec<u32> {
    let task = fields.task();
    let sample = review.file(task.as_ref(), 0);
    let Some(stem) = sample.strip_suffix("0.md") else {
        return Vec::new();
    };
    dir.names
        .iter()
        .filter_map(|name| name.strip_prefix(stem)?.strip_suffix(".md")?.parse().ok())
        .collect()
}

/// The agent's answers to findings, in the post-review file of the last review.
fn replies(dir: &PlanDir, plan: &Plan, key: &CycleKey) -> Result<Vec<Reply>, Trouble> {
    let open = plan.memory.open_findings(key);
    let open: Vec<&str> = open.map(|entry| entry.id.as_str()).collect();
    if open.is_empty() {
        return Ok(Vec::new());
    }
    let number = plan.memory.number(&plan.fields);
    let name = key.review.answer_file(key.task.as_ref(), number);
    let text = text(dir, &name)?;
    Ok(text.map_or_else(Vec::new, |text| findings::replies(&text, &open)))
}

/// Does the answer to the current review exist, and is it newer than the review?
fn answer(dir: &PlanDir, fields: &Fields, review: Kind, number: u32) -> AnswerFile {
    let task = fields.task();
    let time = |name: String| directory::written(&dir.path.join(name));
    let asked = time(review.file(task.as_ref(), number));
    let answered = time(review.answer_file(task.as_ref(), number));
    match answered {
        Some(answered) if asked.is_none_or(|asked| answered >= asked) => AnswerFile::Written,
        Some(_) | None => AnswerFile::Missing,
    }
}

pub(crate) fn write_state(file: &FoundFile, fields: &Fields) -> FileChange {
    let text = record::write(file.bytes.as_deref(), fields);
    atomic::change(&file.path, file.bytes.as_deref(), Some(text))
}

/// A plan in one line, with why its review does not start.
fn describe(state: &State, settings: &Settings, still: Option<(Kind, Standstill)>) -> String {
    let (id, where_it_is, memory) = match state {
        State::Nothing => return "no plan".into(),
        State::Bare(plan) => match &plan.lack {
            Lack::Missing => (&plan.id, "no state.json".to_owned(), &plan.memory),
            Lack::Unreadable(problem) => (&plan.id, problem.clone(), &plan.memory),
        },
        State::Plan(plan) => (&plan.id, describe_fields(&plan.fields), &plan.memory),
    };
    let spent = messages::dollars(memory.spent);
    let spent = match settings.max_cost {
        None if memory.spent == 0 => String::new(),
        None => format!(", {spent} spent"),
        Some(most) => format!(", {spent} of {} spent", messages::dollars(most)),
    };
    let still = still.map_or_else(String::new, |(review, still)| {
        format!("; {}", still.sentence(id, review))
    });
    format!("plan '{id}': {where_it_is}{spent}{still}")
}

fn describe_fields(fields: &Fields) -> String {
    format!(
        "{}, next {}, review {} of {}, {} clean in a row, {} next",
        fields.phase.as_ref().map_or("no phase", Phase::stage),
        fields.next_phase.as_ref().map_or("nothing", Phase::as_str),
        fields.phase_iteration.unwrap_or(0),
        fields.max_reviews,
        fields.consecutive_clean,
        fields.review_model
    )
}

/// Why the review that is due does not start, if only a person can change that.
pub(crate) fn standstill(
    context: &EventContext<'_>,
    plan: &Plan,
) -> Result<Option<(Kind, Standstill)>, Trouble> {
    let Some(review) = Standstill::may_concern(plan) else {
        return Ok(None);
    };
    if !context.is_trusted() {
        return Ok(Some((review, Standstill::Untrusted)));
    }
    let orders = orders::in_force(&context.project, &context.store)?;
    if orders.may_start(Name::Review, context.env.now()).is_err() {
        return Ok(Some((review, Standstill::Paused)));
    }
    Ok(Standstill::of(plan, &settings::of(context)?))
}
