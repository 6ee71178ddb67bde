//! Mainspring's own files, the project's files, and whether they agree.

use std::fs;
use std::path::Path;

use mainspring_kernel::Millis;
use mainspring_kernel::machines::looping::{Client, LoopOwner, State as Loop};
use mainspring_kernel::machines::review::messages;
use mainspring_kernel::machines::{MachineInput, Name};
use mainspring_kernel::orders::{Mode, Until};
use mainspring_platform::{identity, permissions, process};
use mainspring_store::journal::CURRENT;
use mainspring_store::{ShownPath as _, Trouble, path_text};

use super::{Findings, Repair};
use crate::children::permit::Denied;
use crate::command::{CommandContext, timestamp};
use crate::config::trust_roots;
use crate::context::{Caller, EventContext};
use crate::machines::effect_owner;
use crate::machines::{self, review};
use crate::people::orders;
use crate::people::ownership::Ignored;
use crate::people::trust::{Permission, record};
use crate::people::which_session;
use crate::show::journal_cursor::Shown;
use crate::show::records;
use crate::store::ProjectStore;

pub(super) fn examine(cmd: &CommandContext, repair: Repair, findings: &mut Findings) {
    let context = match cmd.context() {
        Ok(found) => found,
        Err(error) => {
            // A session's binding that was damaged keeps its project from being found.
            super::files::examine(cmd, repair, findings);
            return findings.error("project", error.cause, "mainspring doctor --fix");
        }
    };
    folder(&context.store, repair, findings);
    super::files::examine(cmd, repair, findings);
    findings.fine("project", context.root().shown());
    allowed(&context, findings);
    settings(&context, findings);
    machines(cmd, &context, findings);
    plans(&context, findings);
    effects(&context.store, repair, findings);
    journal(cmd, &context.store, findings);
}

fn folder(store: &ProjectStore, repair: Repair, findings: &mut Findings) {
    let root = store.state().root();
    let place = root.shown();
    match store.state().check() {
        Ok(()) => writable(root, place, findings),
        Err(Trouble::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            writable(root, format!("{place}, which does not exist yet"), findings);
        }
        Err(trouble) => {
            let meta = fs::symlink_metadata(root);
            let fix = match &meta {
                Ok(meta) if !meta.is_dir() => format!("mv {place} {place}.old"),
                Ok(meta) if !permissions::is_mine(root, meta) => {
                    format!("sudo chown -R \"$(id -un)\" {place}")
                }
                Ok(_) | Err(_) => format!("chmod 700 {place}"),
            };
            findings.error("state", trouble.to_string(), &fix);
            let ours = meta.is_ok_and(|meta| meta.is_dir() && permissions::is_mine(root, &meta));
            if repair == Repair::Fix && ours {
                let done = permissions::make_owner_only(root);
                if done.is_ok() && store.state().check().is_ok() {
                    findings.mended();
                }
            }
        }
    }
}

/// Tries whether a folder can be made in this folder; it is removed again.
fn try_folder(folder: &Path) -> std::io::Result<()> {
    let id = identity::random_id()?;
    let trial = folder.join(format!(".mainspring-{id}"));
    fs::create_dir(&trial)?;
    fs::remove_dir(&trial)
}

/// Can state be written? This is tried in the folder, or in the nearest one above it.
fn writable(root: &Path, place: String, findings: &mut Findings) {
    let mut above = root.ancestors();
    let Some(there) = above.find(|folder| folder.is_dir()) else {
        return findings.fine("state", place);
    };
    let Err(error) = try_folder(there) else {
        return findings.fine("state", place);
    };
    let denied = error.kind() == std::io::ErrorKind::PermissionDenied;
    let mine = fs::metadata(there).is_ok_and(|meta| permissions::is_mine(there, &meta));
    let fix = if mine && denied {
        format!("chmod u+w {}", there.shown())
    } else {
        "export XDG_STATE_HOME=\"${TMPDIR:-/tmp}/mainspring-state\"".to_owned()
    };
    let what = format!(
        "{} cannot be written, so no stop is held: {error}",
        there.shown()
    );
    findings.error("state", what, &fix);
}

fn allowed(context: &EventContext<'_>, findings: &mut Findings) {
    if let Err(trouble) = trust_roots(context.env) {
        findings.error("trust", trouble.to_string(), "mainspring config check");
    }
    let state = context.store.state();
    match record::all(state) {
        Err(trouble) => findings.error(
            "trust",
            trouble.to_string(),
            &format!(
                "delete it, and `mainspring trust` again where it was meant: ls {}",
                state.trusted().shown()
            ),
        ),
        Ok(_) => trust(context, findings),
    }
    match orders::in_force(&context.project, &context.store) {
        Err(trouble) => findings.error(
            "orders",
            trouble.to_string(),
            "mainspring doctor --fix, and give the orders again",
        ),
        Ok(orders) => {
            if orders.everything == Some(Until::FileGone) {
                let file = context.project.file(orders::OFF_FILE);
                findings.warn(
                    "orders",
                    format!("{} switches everything off here", orders::OFF_FILE),
                    &format!("rm {}", file.shown()),
                );
            } else if orders.everything.is_some() || !orders.machines.is_empty() {
                findings.warn(
                    "orders",
                    "something is stopped or paused here",
                    "mainspring resume",
                );
            }
            if orders.mode == Mode::Observe {
                findings.warn(
                    "orders",
                    "only observing: nothing is held",
                    "mainspring observe off",
                );
            }
        }
    }
}

/// Nobody trusts it: did it move, and does something here wait for it?
fn untrusted(context: &EventContext<'_>, findings: &mut Findings) {
    if let Some(old) = record::moved_from(context.store.state(), context.root()) {
        let old = path_text::from_text(&old).shown();
        return findings.warn(
            "trust",
            format!("this project was trusted as {old}, and has moved"),
            &format!("mainspring trust && mainspring untrust {old}"),
        );
    }
    match context.trust_notice() {
        Ok(Some(notice)) => findings.warn("trust", notice.to_string(), "mainspring trust"),
        Ok(None) | Err(_) => findings.fine(
            "trust",
            "this project's files are ignored until you run `mainspring trust`",
        ),
    }
}

/// What a person has allowed here.
fn trust(context: &EventContext<'_>, findings: &mut Findings) {
    let fine = match context.permission() {
        Permission::Trusted(_) | Permission::Replaced => "what the project brings counts",
        Permission::BelowRoot { .. } => "in a folder that your [trust] roots name",
        Permission::Unreadable(trouble) => {
            findings.error("trust", trouble.to_string(), "mainspring doctor --fix");
            return;
        }
        Permission::None => return untrusted(context, findings),
    };
    // Something may wait for the person to trust it.
    match context.trust_notice() {
        Ok(Some(notice)) => findings.warn("trust", notice.to_string(), "mainspring trust"),
        // A file that cannot be read is reported with the settings.
        Ok(None) | Err(_) => findings.fine("trust", fine),
    }
}

fn settings(context: &EventContext<'_>, findings: &mut Findings) {
    match context.config() {
        Err(error) => findings.error("config", error.to_string(), "mainspring config check"),
        Ok(config) => {
            let mut ignored: Vec<&Ignored> = context.ignored().collect();
            ignored.dedup();
            for file in ignored {
                findings.warn("config", file.to_string(), &file.fix());
            }
            for warning in &config.warnings {
                findings.warn("config", warning, "mainspring config check");
            }
        }
    }
}

fn machines(cmd: &CommandContext, context: &EventContext<'_>, findings: &mut Findings) {
    let store = &context.store;
    let session = which_session::latest(&cmd.env, store).map(|(id, _)| id);
    let context = context.seen_by(Caller::View { session });
    for name in Name::ALL {
        match machines::view(*name, &context) {
            Err(trouble) => match context.permit(*name) {
                Err(Denied::Ordered(order)) => findings.fine(name.as_str(), order.to_string()),
                Err(Denied::Trouble(_)) | Ok(_) => findings.error(
                    name.as_str(),
                    trouble.to_string(),
                    match name {
                        Name::Claim => "mainspring claim repair",
                        // A file of our own is moved away, and kept.
                        _ if trouble.to_string().contains(&store.dir().shown()) => {
                            "mainspring doctor --fix"
                        }
                        _ => "fix that file or move it away, then run `mainspring status`",
                    },
                ),
            },
            Ok(None) => {}
            Ok(Some(input)) => {
                findings.fine(name.as_str(), machines::summary(&input));
                if let MachineInput::Loop(input) = &input {
                    looping(cmd, &input.state, input.facts.ttl, findings);
                }
            }
        }
    }
}

/// Plans whose `state.json` cannot be read.
fn plans(context: &EventContext<'_>, findings: &mut Findings) {
    match review::broken_states(context) {
        // A folder that cannot be read is reported with the machine.
        Err(_) => {}
        Ok(broken) => {
            for (plan, problem) in broken {
                let fix = format!("mainspring plan repair --plan {}", messages::quoted(&plan));
                findings.error("review", format!("plan '{plan}': {problem}"), &fix);
            }
        }
    }
}

/// A loop that nobody continues any more, or whose state cannot be read.
fn looping(cmd: &CommandContext, state: &Loop, ttl: Millis, findings: &mut Findings) {
    let (Loop::Active(run) | Loop::Completing { run, .. } | Loop::Stuck(run)) = state else {
        if let Loop::Corrupt(what) = state {
            findings.error("loop", what.clone(), "mainspring loop abort");
        }
        return;
    };
    if run.is_stale(cmd.env.now(), ttl) {
        findings.warn(
            "loop",
            format!("it has not advanced since {}", timestamp(run.updated)),
            "mainspring loop abort",
        );
    }
    match &run.owner {
        LoopOwner::Nobody => findings.warn(
            "loop",
            "it belongs to no session, and goes on only if one that you attend is alone here",
            "mainspring loop adopt --session last",
        ),
        LoopOwner::Next => {}
        LoopOwner::Session { id, client } => {
            let gone = |client: &Client| !process::exists(client.0);
            if client.as_ref().is_some_and(gone) {
                findings.warn(
                    "loop",
                    format!("the client of its session {id} has ended"),
                    &format!(
                        "{}, or mainspring loop adopt, or mainspring loop abort",
                        crate::hosts::DEFAULT.doctor.resume
                    ),
                );
            }
        }
    }
}

/// Intents whose process is gone: the next stop deals with them.
fn effects(store: &ProjectStore, repair: Repair, findings: &mut Findings) {
    let files = fs::read_dir(store.dir()).into_iter().flatten().flatten();
    for entry in files {
        let name = entry.file_name().to_string_lossy().into_owned();
        let intent = name
            .strip_prefix("intent-")
            .and_then(|name| name.strip_suffix(".json"));
        let Some(machine) = intent else {
            if name.starts_with('.') && name.ends_with(".mainspring") {
                findings.warn(
                    "left over",
                    format!("{name} was left by a crash"),
                    "mainspring doctor --fix",
                );
                if repair == Repair::Fix && fs::remove_file(entry.path()).is_ok() {
                    findings.mended();
                }
            }
            continue;
        };
        match mainspring_store::read_json::<mainspring_kernel::machines::Pending>(entry.path()) {
            Err(trouble) => {
                findings.error("effects", trouble.to_string(), "mainspring doctor --fix");
            }
            Ok(found) => match found.value {
                Some(pending) if effect_owner::is_alive(pending.owner()) => {
                    findings.fine("effects", format!("{machine}'s effect is running"));
                }
                Some(_) => findings.warn(
                    "effects",
                    format!("{machine}'s effect was interrupted; the next stop deals with it"),
                    "say \"continue\" to the agent",
                ),
                None => {}
            },
        }
    }
}

fn journal(cmd: &CommandContext, store: &ProjectStore, findings: &mut Findings) {
    let nothing = "no decision was made here yet";
    if !store.dir().exists() {
        return findings.fine("journal", nothing);
    }
    let seen = match records::all(store.dir()) {
        Ok(seen) if seen.is_empty() => return findings.fine("journal", nothing),
        Ok(seen) => seen,
        Err(error) => return findings.error("journal", error.cause, "mainspring log"),
    };
    let mut last = None;
    let mut damaged = Vec::new();
    for line in seen {
        match line {
            Shown::Record(record) => last = Some((record.seq, record.at)),
            Shown::Problem(problem) => damaged.push(problem),
        }
    }
    if let Some((seq, at)) = last {
        let path = store.dir().join(CURRENT);
        findings.fine("journal", format!("{seq} records, {}", path.shown()));
        clock(at, cmd.env.now(), findings);
    }
    if let Some(first) = damaged.first() {
        findings.warn(
            "journal",
            format!(
                "damaged lines, which are left out: {}; the first: {first}",
                damaged.len()
            ),
            "mainspring log shows what can be read",
        );
    }
}

/// Is a record dated in the future?
fn clock(last: Millis, now: Millis, findings: &mut Findings) {
    if last.since(now).0 > 60_000 {
        findings.warn(
            "clock",
            format!(
                "the last record is dated {}, which is in the future",
                timestamp(last)
            ),
            "timedatectl status",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_went_back_is_named() {
        let found = |last, now| {
            let mut findings = Findings::default();
            clock(Millis(last), Millis(now), &mut findings);
            findings.all.len()
        };
        assert_eq!(found(100_000, 200_000), 0);
        assert_eq!(found(200_000, 150_000), 0, "two clocks are never the same");
        assert_eq!(found(300_000, 100_000), 1);
    }
}
