//! `mainspring debug self`: this program, where it is registered, and which state it keeps.

use mainspring_kernel::hidden::escape_name;
use mainspring_kernel::journal;
use mainspring_store::{ShownPath as _, path_text, seal};
use serde::Serialize;

use crate::command::{CommandContext, Result, timestamp};
use crate::hosts::HOSTS;
use crate::hosts::install as hosts;
use crate::hosts::install::{Handler, PluginState};
use crate::setup::install;
use crate::store::installs;

/// Show this program: its version, where it is registered, and which state it keeps.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mainspring debug self\n  mainspring debug self --json")]
pub(super) struct Args {
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct View {
    program: Program,
    /// Each place that calls us.
    registered: Vec<Registration>,
    /// Settings files that an installation wrote, in any project.
    installed: Vec<Written>,
    state: State,
}

#[derive(Debug, Serialize)]
struct Program {
    version: &'static str,
    /// Not known of a debug build.
    commit: Option<&'static str>,
    path: String,
}

#[derive(Debug, Serialize)]
struct Registration {
    host: &'static str,
    /// `user`, `project`, `local` or `plugin`.
    by: String,
    file: Option<String>,
    /// The programs that it calls.
    programs: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Written {
    file: String,
    at: String,
}

#[derive(Debug, Serialize)]
struct State {
    folder: String,
    exists: bool,
    journal_format: u32,
    file_format: u32,
}

/// The commit that a release was built from.
const COMMIT: Option<&str> = option_env!("MAINSPRING_COMMIT");

pub(super) fn run(args: &Args, cmd: &CommandContext) -> Result {
    let state = cmd.state()?;
    let mut installed: Vec<Written> = installs::all(&state)
        .map(|record| Written {
            file: path_text::from_text(&record.path).shown(),
            at: timestamp(record.at),
        })
        .collect();
    installed.sort_by(|one, other| one.file.cmp(&other.file));
    let view = View {
        program: Program {
            version: env!("CARGO_PKG_VERSION"),
            commit: COMMIT,
            path: install::program(cmd)?.shown(),
        },
        registered: registered(cmd)?,
        installed,
        state: State {
            folder: state.root().shown(),
            exists: state.root().is_dir(),
            journal_format: journal::FORMAT,
            file_format: seal::FORMAT,
        },
    };
    if args.json {
        return crate::command::json(&view);
    }
    Ok(cmd.fitted(&render(cmd, &view)))
}

fn registered(cmd: &CommandContext) -> Result<Vec<Registration>> {
    let (project, _) = cmd.project()?;
    let here = &project.worktree;
    let mut found = Vec::new();
    for host in HOSTS {
        let name = host.agent.name;
        let files: Vec<_> = hosts::files(host, &cmd.env, here)
            .into_iter()
            .filter_map(|(scope, file)| Some((scope, file.ok()?)))
            .collect();
        for (scope, file) in &files {
            let hooks = file.found.handlers.iter().chain(&file.found.guard);
            let programs = programs(hooks.chain(&file.found.drop_ins));
            if !programs.is_empty() {
                found.push(Registration {
                    host: name,
                    by: scope.to_string(),
                    file: Some(file.path.shown()),
                    programs,
                });
            }
        }
        let settings = files.iter().map(|(_, file)| file);
        let plugin = hosts::plugin(host, &cmd.env, here, settings);
        if let PluginState::Loads(handlers) = plugin {
            found.push(Registration {
                host: name,
                by: "plugin".into(),
                file: None,
                programs: programs(handlers.iter()),
            });
        }
    }
    Ok(found)
}

/// Each program once.
fn programs<'a>(handlers: impl Iterator<Item = &'a Handler>) -> Vec<String> {
    let mut programs: Vec<String> = handlers.map(|one| one.program.shown()).collect();
    programs.sort();
    programs.dedup();
    programs
}

fn render(cmd: &CommandContext, view: &View) -> String {
    let Program {
        version,
        commit,
        path,
    } = &view.program;
    let title = cmd.paint.bold(&format!("mainspring {version}"));
    let commit = match commit {
        Some(commit) => format!("commit {commit}"),
        None => "a debug build".into(),
    };
    let mut out = format!("{title}, {commit}\n{}\n", escape_name(path));
    if view.registered.is_empty() {
        out += "registered nowhere here; `mainspring install` does that\n";
    }
    for one in &view.registered {
        let place = match &one.file {
            Some(file) => format!("in {} ({})", escape_name(file), one.by),
            None => "by the plugin".into(),
        };
        let programs = escape_name(&one.programs.join(", ")).into_owned();
        out += &format!("registered with {} {place}: {programs}\n", one.host);
    }
    let elsewhere = view.installed.iter().filter(|written| {
        let here = |one: &Registration| one.file.as_ref() == Some(&written.file);
        !view.registered.iter().any(here)
    });
    for written in elsewhere {
        let file = escape_name(&written.file);
        out += &format!("also installed into {file}, {}\n", written.at);
    }
    let state = &view.state;
    out += &format!("state in {}", escape_name(&state.folder));
    if !state.exists {
        out += ", which does not exist yet";
    }
    let (journal, file) = (state.journal_format, state.file_format);
    out + &format!(": journal format {journal}, file format {file}\n")
}
