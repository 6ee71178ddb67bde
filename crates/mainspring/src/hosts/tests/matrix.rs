//! docs/hosts.md, made from the table of hosts.

use std::path::Path;

use mainspring_kernel::Millis;
use mainspring_kernel::block_ledger::Cap;

use super::super::answers::{ContextIn, DenyBy, ObjectBy};
use super::super::install::Scope;
use super::super::reading::Means;
use super::super::*;
use crate::reference;

/// A row: its title, and the cell of a host.
type Row = (&'static str, fn(&HostSpec) -> String);

const HOME: &str = "/home/you";

fn empty() -> Environment {
    Environment::given(&[("HOME", HOME)], Millis(0))
}

fn event(host: &HostSpec, means: Means) -> String {
    match host.reading.name_of(means) {
        "" => "–".into(),
        name => format!("`{name}`"),
    }
}

fn file(host: &HostSpec, scope: Scope) -> String {
    let here = Path::new("");
    match host.settings_file(scope, &empty(), here) {
        Some(path) => format!("`{}`", path.display()).replace(HOME, "~"),
        None => "–".into(),
    }
}

fn yes(is_so: bool) -> String {
    if is_so { "yes" } else { "–" }.into()
}

const EVENTS: &[Row] = &[
    ("a session starts", |host| event(host, Means::Start)),
    ("a session ends", |host| event(host, Means::End)),
    ("a prompt", |host| event(host, Means::Prompt)),
    ("a typed command", |host| event(host, Means::Expansion)),
    ("before a tool", |host| event(host, Means::BeforeTool)),
    ("after a tool", |host| event(host, Means::AfterTool)),
    ("the agent stops", |host| event(host, Means::Stop)),
    ("the agent is idle", |host| event(host, Means::Notification)),
];

const MACHINES: &[Row] = &[
    ("`pulse`, `gate`, `loop`, `check`, `review`", |_| yes(true)),
    ("`claim`: news wakes the agent", |host| {
        // Only Claude Code wakes its agent when a background hook says so.
        if host.program == DEFAULT.program {
            "yes".into()
        } else {
            "at its next event".into()
        }
    }),
    ("`tasks`: when the model uses a skill", |host| {
        let skill = host.reading.skill.as_ref();
        skill.map_or("–".into(), |skill| format!("tool `{}`", skill.tool))
    }),
    ("`tasks`: when a skill is typed", |host| {
        yes(!host.reading.name_of(Means::Expansion).is_empty())
    }),
    (
        "what you type in the client to stop it, without the model",
        |host| match host.answers.orders {
            OrdersBy::Command => "`/mainspring:stop` or `mainspring stop`".into(),
            OrdersBy::Message => "`mainspring stop`".into(),
            OrdersBy::Nowhere => "–".into(),
        },
    ),
    (
        "the same while the agent is at work or held",
        |host| match (host.answers.orders, host.typed_here()) {
            (OrdersBy::Nowhere, _) => "–".into(),
            (_, TypedHere::AtOnce) => "works at its next stop".into(),
            (_, TypedHere::AfterEsc) => "press Esc first".into(),
        },
    ),
];

const STOPS: &[Row] = &[
    ("holds in a row that it accepts", |host| {
        match (host.cap)(&empty()) {
            Cap::After(holds) => format!("{holds}; a tool call resets them"),
            Cap::InTurn(holds) => format!("{holds} in a turn"),
            Cap::Ours(holds) => format!("any; we let go after {holds} without a tool call"),
            Cap::Never => "any".into(),
        }
    }),
    ("where the last words are", |host| {
        let sample =
            r#"{"hook_event_name":"Stop","last_assistant_message":"x","transcript_path":"/t"}"#;
        let payload = decode(&empty(), sample.into(), DecodeAs::Stop, named(host.program));
        let in_event = payload.is_ok_and(|payload| payload.last_message.is_some());
        match (in_event, host.transcript.about_stop) {
            (true, _) => "in the event".into(),
            (false, None) => "in the transcript".into(),
            (false, Some(_)) => "in the transcript, a moment later".into(),
        }
    }),
    (
        "our reason reaches the agent as the user's prompt",
        |host| yes(host.answers.reason_is_prompt),
    ),
    ("a sub-agent's events are told apart", |host| {
        match host.reading.subagents {
            Subagents::Marked => "yes",
            Subagents::InOwnSession => "yes; it has a session of its own",
            Subagents::Unmarked => "no; it has no stops",
            Subagents::Untold => "our plugin tells nothing of it",
        }
        .into()
    }),
    ("text for the agent", |host| {
        match host.answers.context {
            ContextIn::Output => "`hookSpecificOutput`",
            ContextIn::TopLevel => "top level",
            ContextIn::Nowhere => "–",
        }
        .into()
    }),
    ("a tool is refused by", |host| {
        match host.answers.deny {
            DenyBy::Permission => "`permissionDecision`",
            DenyBy::Decision => "`decision`",
        }
        .into()
    }),
    ("an objection after a tool", |host| {
        match host.answers.object {
            ObjectBy::Block => "`decision`",
            ObjectBy::Context => "as text: the reason of a block is lost",
        }
        .into()
    }),
    ("the session's id in the agent's shell", |host| {
        let name = host.agent.session;
        name.map_or("–".into(), |name| format!("`{name}`"))
    }),
];

const FILES: &[Row] = &[
    ("your own settings", |host| file(host, Scope::User)),
    ("a project's settings", |host| file(host, Scope::Project)),
    ("a project's settings for you alone", |host| {
        file(host, Scope::Local)
    }),
];

fn table(rows: &[Row]) -> String {
    let names: Vec<&str> = HOSTS.iter().map(|host| host.agent.name).collect();
    let mut out = format!(
        "| | {} |\n|---|{}\n",
        names.join(" | "),
        "---|".repeat(names.len())
    );
    for (title, cell) in rows {
        let cells: Vec<String> = HOSTS.iter().map(|host| cell(host)).collect();
        out += &format!("| {title} | {} |\n", cells.join(" | "));
    }
    out
}

#[test]
fn the_reference_of_hosts() {
    let programs: Vec<String> = HOSTS
        .iter()
        .map(|host| format!("`{}`", host.program))
        .collect();
    let reviewers: Vec<String> = reviewer::PROFILES
        .iter()
        .map(|one| {
            let writes = match (one.writes, one.has_shell) {
                (true, _) => "writes its review itself",
                (false, true) => "only reads, and can run git",
                (false, false) => "only reads, and gets the changes with its prompt",
            };
            format!("| `{}` | {writes} |\n", one.program)
        })
        .collect();
    let not_run: Vec<String> = not_run::NOT_RUN
        .iter()
        .map(|host| format!("| {} | {} |\n", host.name, host.what))
        .collect();
    let out = format!(
        "# Hosts\n\nWhat Mainspring does in each coding agent. This page is made from the table of \
         hosts in the code ([design](design/hosts.md)). `mainspring hook` recognises the host; \
         `mainspring hook --host NAME` names it: {}.\n\nEach was run in its real client: \
         [which journeys it passes](host-journeys.md).\n\n## Machines\n\n{}\n## Stops and answers\n\n{}\n\
         ## Events\n\n{}\n## Files\n\n{}\n## Not run\n\nMainspring does nothing in these, and \
         `mainspring doctor` says so.\n\n| | |\n|---|---|\n{}\n## Reviewers\n\n`[review] reviewers = [\"claude:opus\", \
         \"codex\"]` names the clients that take turns, whatever host the agent runs in. An answer \
         that is not in our schema is no review.\n\n| client | |\n|---|---|\n{}",
        programs.join(", "),
        table(MACHINES),
        table(STOPS),
        table(EVENTS),
        table(FILES),
        not_run.concat(),
        reviewers.concat()
    );
    reference::keep("docs/hosts.md", &out);
}
