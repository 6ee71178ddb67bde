//! Runs a reviewer: a new client in a process group of its own that knows nothing of this
//! session. Its verdict is in a file that survives us.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mainspring_kernel::Millis;
use mainspring_kernel::effect::{Fence, Intent};
use mainspring_kernel::machines::review::findings::Report;
use mainspring_kernel::machines::review::{
    Failure, Finding, Outcome, Request, Review, Saw, Verdict, messages,
};
use mainspring_kernel::machines::{Name, Pending};
use mainspring_platform::process::end_tree;
use mainspring_platform::program::is_path;
use mainspring_store::{Trouble, atomic, no_symlink};

use super::attempt::Attempt;
use super::directory::PLANS;
use super::subject::Subject;
use super::{history, library, reading, settings};
use crate::children::guard::{Ended, Guarded};
use crate::children::permit::{Permit, Revoked};
use crate::context::EventContext;
use crate::env::Environment;
use crate::hosts::reviewer::{self, End, Permissions, Reviewer, Said, Task, report};
use crate::hosts::text::excerpt;
use crate::hosts::vendor_answer;
use crate::limits;

const LOG_EXCERPT: usize = 4_000;

pub(super) fn run(context: &EventContext<'_>, permit: &Permit, intent: &Intent<Review>) -> Outcome {
    let wait = intent.effect.not_before.since(context.env.later());
    let waited = permit.sleep(Duration::from_millis(wait.0));
    let start = Instant::now();
    let project = ReviewRun::new(context, permit, intent);
    let limit = intent.deadline.since(intent.since.plus(wait));
    let ended = match waited {
        Err(Revoked) => ReviewEnd::not_done(Failure::Cancelled),
        Ok(()) => project
            .taken_over()
            .unwrap_or_else(|| project.review(limit)),
    };
    if let Finding::NotDone(_) = ended.result
        && project.is_current()
    {
        project.set_aside();
    }
    let took = ended.took.unwrap_or_else(|| {
        let took = u64::try_from(start.elapsed().as_millis());
        Millis(took.unwrap_or(u64::MAX))
    });
    let cost = match ended.result {
        // It ended before it could say what it cost.
        Finding::NotDone(Failure::TimedOut { .. }) if ended.cost == 0 => {
            history::estimate(&context.store, &intent.effect, took)
        }
        Finding::Reviewed(_) | Finding::NotDone(_) => ended.cost,
    };
    let mut saw = match (&ended.result, &ended.before) {
        (Finding::Reviewed(_), Some(before)) => {
            before.compare(&Subject::of(context, permit, &intent.effect))
        }
        _ => Saw::default(),
    };
    if settings::counts_any(context) {
        saw.subject = None;
    }
    let outcome = Outcome {
        saw,
        report: ended.report,
        ..Outcome::new(ended.result, took, cost)
    };
    history::add(
        &context.store,
        context.env.later(),
        &intent.effect,
        &outcome,
    );
    outcome
}

/// How one attempt ended.
struct ReviewEnd {
    result: Finding,
    cost: u64,
    report: Option<Report>,
    /// What the reviewer saw when it started.
    before: Option<Subject>,
    /// How long it took, if it did not run just now.
    took: Option<Millis>,
}

impl ReviewEnd {
    const fn not_done(failure: Failure) -> Self {
        Self {
            result: Finding::NotDone(failure),
            cost: 0,
            report: None,
            before: None,
            took: None,
        }
    }

    /// A review with this answer. Findings of an incomplete answer do not count.
    fn reviewed(said: Option<Said>, asked: &Request, before: Subject) -> Self {
        let verdict = said
            .as_ref()
            .map_or(Verdict::Unsaid, |said| report::judge(said, asked));
        let cost = said.as_ref().map_or(0, |said| said.cost);
        let report = said.and_then(|said| said.report);
        Self {
            result: Finding::Reviewed(verdict),
            cost,
            report: report.filter(|_| verdict != Verdict::Unsaid && asked.ledger.is_some()),
            before: Some(before),
            took: None,
        }
    }
}

/// One attempt at a review.
struct ReviewRun<'a> {
    context: &'a EventContext<'a>,
    permit: &'a Permit,
    asked: &'a Request,
    /// The folder that the plan's paths are relative to.
    root: PathBuf,
    plan: PathBuf,
    /// The review that the reviewer will write.
    file: PathBuf,
    /// Our own folder for this attempt.
    attempt: Attempt,
    fence: Fence,
}

impl<'a> ReviewRun<'a> {
    fn new(context: &'a EventContext<'a>, permit: &'a Permit, intent: &'a Intent<Review>) -> Self {
        let asked = &intent.effect;
        let root = super::home_of_plans(context);
        let plan = root.join(PLANS).join(&asked.plan);
        Self {
            file: plan.join(asked.file()),
            attempt: Attempt::of(context, intent.fence),
            fence: intent.fence,
            context,
            permit,
            asked,
            root,
            plan,
        }
    }

    /// The finished review of an earlier attempt whose hook died, if there is one. Only what its
    /// guard saw end by itself is finished: what a kill interrupted is no review.
    fn taken_over(&self) -> Option<ReviewEnd> {
        let mut last = None;
        for fence in self.asked.resumes.iter().rev() {
            let attempt = Attempt::of(self.context, *fence);
            // A reviewer that may still run gets no second one beside it.
            if let Err(trouble) = attempt.end_leftover() {
                let failure = Failure::Fault(trouble.to_string());
                return Some(ReviewEnd::not_done(failure));
            }
            if last.is_none() && attempt.is_started() {
                last = Some(attempt);
            }
        }
        let finished = last.and_then(|attempt| self.finished(&attempt));
        if finished.is_none() && !self.asked.resumes.is_empty() {
            self.set_aside();
        }
        finished
    }

    /// The review of an attempt whose hook died, if the reviewer had ended.
    fn finished(&self, attempt: &Attempt) -> Option<ReviewEnd> {
        let printed = attempt.printed(0)?;
        let before = attempt.subject()?;
        let said = (self.client().read)(&printed);
        if said.as_ref().is_some_and(|said| said.end == End::Error) {
            return None;
        }
        self.write_prose(said.as_ref());
        is_written(&self.file).then(|| ReviewEnd {
            took: Some(attempt.took()),
            ..ReviewEnd::reviewed(said, self.asked, before)
        })
    }

    fn review(&self, limit: Millis) -> ReviewEnd {
        self.start(limit).unwrap_or_else(ReviewEnd::not_done)
    }

    fn start(&self, limit: Millis) -> Result<ReviewEnd, Failure> {
        let fault = |trouble: Trouble| Failure::Fault(trouble.to_string());
        if fs::symlink_metadata(&self.file).is_ok() {
            let file = self.file.display();
            return Err(Failure::Fault(format!("{file} already exists")));
        }
        let command = settings::command(self.context, self.client()).map_err(fault)?;
        let program = find(self.context.env, &command).ok_or(Failure::NoProgram(command))?;
        let library = library::place(self.context.store.state()).map_err(fault)?;
        self.attempt.create(self.context).map_err(fault)?;
        let before = Subject::of(self.context, self.permit, self.asked);
        self.attempt.keep_subject(&before).map_err(fault)?;
        let files = self.attempt.outputs().map_err(fault)?;
        let args = self.args(&library).map_err(fault)?;
        let guarded = Guarded {
            program,
            args,
            dir: &self.root,
            env: settings::environment(self.context, self.client()).map_err(fault)?,
            stdout: &self.attempt.stdout(),
            stderr: &self.attempt.stderr(),
            most_output: limits::CHILD_OUTPUT,
            limit: Duration::from_millis(limit.0),
        };
        let ended = guarded
            .run(self.permit, files, |leader| {
                // The order matters: whoever takes the review over first records that and then
                // ends the leader that it finds. So one of us sees the other.
                self.attempt.note_leader(leader);
                if !self.is_current() {
                    end_tree(leader);
                }
            })
            .map_err(|error| Failure::Fault(format!("cannot start a reviewer: {error}")))?;
        self.attempt.forget_subject();
        Ok(self.finding(ended, limit, before))
    }

    /// The result of a reviewer that ended, and its cost.
    fn finding(&self, ended: Ended, limit: Millis, before: Subject) -> ReviewEnd {
        let stdout = self.attempt.stdout();
        let said = match ended {
            Ended::Code(code) => self.attempt.printed(code),
            Ended::TimedOut | Ended::Flooded | Ended::Cancelled => None,
        };
        let said = said.and_then(|printed| (self.client().read)(&printed));
        let failed = said.as_ref().is_some_and(|said| said.end == End::Error);
        if ended == Ended::Code(0) && !failed {
            self.write_prose(said.as_ref());
        }
        let failure = match ended {
            Ended::Cancelled => Some(Failure::Cancelled),
            Ended::TimedOut => Some(Failure::TimedOut { after: limit }),
            Ended::Flooded => Some(Failure::Exit {
                status: "too much output".into(),
                said: String::new(),
            }),
            Ended::Code(0) if failed => Some(Failure::Exit {
                status: "an error that it reported".into(),
                said: self.last_words(&stdout),
            }),
            Ended::Code(0) if is_written(&self.file) => None,
            Ended::Code(0) => Some(Failure::NoFile),
            Ended::Code(code) => Some(Failure::Exit {
                status: format!("exit code {code}"),
                said: self.last_words(&stdout),
            }),
        };
        if let Some(failure) = failure {
            self.keep_log(&stdout);
            return ReviewEnd {
                cost: said.map_or(0, |said| said.cost),
                ..ReviewEnd::not_done(failure)
            };
        }
        ReviewEnd::reviewed(said, self.asked, before)
    }

    /// Writes the review from the findings, if the reviewer gave a complete answer and no text.
    fn write_prose(&self, said: Option<&Said>) {
        if let Some(said) = said
            && let (Some(found), Some(_)) = (&said.report, &self.asked.ledger)
            && fs::symlink_metadata(&self.file).is_err()
        {
            let verdict = report::judge(said, self.asked);
            if verdict != Verdict::Unsaid {
                let text = report::prose(found, self.asked, verdict);
                let _ = no_symlink::replace(&self.file, text.as_bytes(), None);
            }
        }
    }

    /// Is this still the current attempt? If the computer slept past our deadline, another hook
    /// may have taken the review over before we woke.
    fn is_current(&self) -> bool {
        match self.context.store.intent(Name::Review, &self.asked.plan) {
            Ok(found) => is_attempt(found.value.as_ref(), self.fence),
            Err(_) => true,
        }
    }

    /// The arguments that tell the host's client what to review.
    fn args(&self, library: &Path) -> Result<Vec<OsString>, Trouble> {
        let text = library.to_str().ok_or_else(|| Trouble::Unsafe {
            path: library.into(),
            problem: "is not UTF-8 text, so it cannot be named to a reviewer: set XDG_STATE_HOME"
                .into(),
        })?;
        let permissions = match settings::permissions(self.context, self.client(), self.asked)? {
            settings::Permissions::Skipped => Permissions::Skipped,
            settings::Permissions::Scoped => Permissions::Scoped {
                library,
                file: scope(self.asked)?,
            },
        };
        let (client, model) = reviewer::named(&self.asked.model);
        let mut prompt = messages::prompt(self.asked, text);
        let schema = match self.asked.ledger {
            Some(_) => report::WITH_FINDINGS,
            None => report::VERDICT_ALONE,
        };
        if !client.writes {
            prompt += &reading::instructions(self.context, self.permit, self.asked, client);
        }
        let schema_file = self.attempt.path("schema.json");
        atomic::replace(&schema_file, vendor_answer::STRICT.as_bytes())?;
        Ok((client.args)(&Task {
            model,
            permissions,
            schema,
            schema_file: &schema_file,
            prompt,
        }))
    }

    fn client(&self) -> &'static Reviewer {
        reviewer::named(&self.asked.model).0
    }

    /// Where the person finds why a review did not happen.
    fn log(&self) -> PathBuf {
        self.plan
            .join(format!(".review-{}.log", self.asked.iteration))
    }

    /// The reviewer's last line of output, for a message.
    fn last_words(&self, stdout: &Path) -> String {
        let from_result = || {
            let bytes = atomic::read(stdout, limits::CHILD_OUTPUT).ok()??;
            let complaint = (self.client().complaint)(&bytes)?;
            Some(excerpt(&complaint))
        };
        let from_log = || {
            let bytes = atomic::read(&self.attempt.stderr(), limits::CHILD_OUTPUT).ok()??;
            let text = String::from_utf8_lossy(&bytes);
            let last = text.lines().rev().find(|line| !line.trim().is_empty())?;
            Some(excerpt(last))
        };
        from_log().or_else(from_result).unwrap_or_default()
    }

    /// Both outputs: the client prints most errors to stdout.
    fn keep_log(&self, stdout: &Path) {
        let read = |path: &Path| atomic::read(path, limits::CHILD_OUTPUT).ok().flatten();
        let mut log = read(&self.attempt.stderr()).unwrap_or_default();
        let said = read(stdout).unwrap_or_default();
        if !said.is_empty() {
            log.extend_from_slice(b"\n--- stdout ---\n");
            log.extend_from_slice(&said[..said.len().min(LOG_EXCERPT)]);
        }
        let _ = no_symlink::replace(&self.log(), &log, None);
    }

    /// A file that a failed reviewer left is not a review. It is renamed, so that the next
    /// attempt can use its number; an empty file is deleted.
    fn set_aside(&self) {
        let ours = !self.asked.resumes.is_empty() || self.attempt.exists();
        if !ours {
            return;
        }
        match fs::symlink_metadata(&self.file) {
            Ok(meta) if meta.is_file() && meta.len() == 0 => {
                let _ = fs::remove_file(&self.file);
            }
            Ok(meta) if meta.is_file() => {
                let name = format!(".review-{}.partial", self.asked.iteration);
                let _ = fs::rename(&self.file, self.plan.join(name));
            }
            Ok(_) | Err(_) => {}
        }
    }
}

/// The only file that a scoped reviewer may write. The plan's name becomes part of a permission
/// rule of the host's, in which a comma or a bracket begins another rule and a star means any
/// file. A branch can bring a plan with such a name, so such a plan gets no reviewer.
pub(crate) fn scope(asked: &Request) -> Result<String, Trouble> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
    if !asked.plan.chars().all(plain) {
        return Err(Trouble::Other(format!(
            "the plan {:?} cannot be reviewed with scoped permissions: rename its folder to \
             letters, digits, `.`, `_` and `-`",
            excerpt(&asked.plan)
        )));
    }
    Ok(format!(
        "{}/{}",
        messages::directory(&asked.plan),
        asked.file()
    ))
}

fn is_attempt(recorded: Option<&Pending>, attempt: Fence) -> bool {
    matches!(recorded, Some(Pending::Review(intent)) if intent.fence == attempt)
}

/// Does the file exist, and is it not empty?
fn is_written(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() > 0)
}

/// Finds the program by its name on the PATH or by an absolute path. A relative path could be
/// the repository's program.
fn find(env: &Environment, program: &str) -> Option<PathBuf> {
    if is_path(program) {
        let path = match program.strip_prefix("~/") {
            Some(below) => env.home()?.join(below),
            None => PathBuf::from(program),
        };
        return Some(path).filter(|path| path.is_absolute() && path.is_file());
    }
    env.program(program)
}
