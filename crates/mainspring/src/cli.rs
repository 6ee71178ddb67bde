//! The command line, and nothing else.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::Path;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use mainspring_platform::terminal;

use mainspring_platform::program;

use crate::children::guard;
use crate::command::{CommandContext, TypedIn, json};
use crate::env::Environment;
use crate::error::{CliError, FailureKind};
use crate::exit::Exit;
use crate::hosts::{self, CalledBy, HostSpec, call};
use crate::output::{self, Paint};
use crate::pager;
use crate::wrap::wrap;
use crate::{compat, debug, demo, hook, machines, people, setup, show};

const START_HERE: &str = "Start here:
  mainspring demo                 watch a scripted agent run into every machine
  mainspring install              set everything up; --dry-run shows what would change
  mainspring doctor               check this set-up, and show how to fix it
  mainspring status               what is going on in this project; `why` explains it
  mainspring stop                 stop holding the agent; `resume` undoes this";

/// The one binary behind a coding agent's hooks: it decides whether the agent is really done
#[derive(Debug, Parser)]
#[command(
    name = "mainspring",
    version,
    max_term_width = 100,
    subcommand_required = true,
    after_help = START_HERE
)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Demo(demo::Args),
    Install(setup::install::Args),
    Uninstall(setup::install::UninstallArgs),
    Doctor(setup::doctor::Args),
    Pulse(machines::pulse::commands::Args),
    Status(show::status::Args),
    Sessions(show::sessions::Args),
    Why(show::why::Args),
    Log(show::log::Args),
    View(show::view::Args),
    Stop(people::brake::StopArgs),
    Pause(people::brake::PauseArgs),
    Resume(people::brake::ResumeArgs),
    Observe(people::brake::ObserveArgs),
    Trust(people::trust_command::Args),
    Untrust(people::trust_command::UntrustArgs),
    Tasks(machines::tasks::commands::Args),
    Gate(machines::gate::commands::Args),
    Loop(machines::looping::commands::Args),
    Check(machines::check::commands::Args),
    Plan(machines::review::commands::Args),
    Claim(machines::claim::commands::Args),
    Handoff(machines::claim::commands::handoff::Args),
    Graph(show::graph::Args),
    Config(setup::config::Args),
    Debug(debug::Args),
    #[command(hide = true)]
    Completions(setup::completions::Args),
    #[command(hide = true)]
    Man(setup::man::Args),
    #[command(hide = true)]
    Hook(hook::Args),
    #[command(hide = true)]
    Compat(compat::Args),
}

pub(crate) fn main() -> ExitCode {
    let env = Environment::real();
    let mut words = std::env::args_os();
    let name = words.next().unwrap_or_default();
    let args: Vec<OsString> = words.collect();
    // A hook must be fast, so it does not wait for the parser. A drop-in takes the arguments
    // of another program, which the parser does not know.
    if let Some((by, host)) = called_as_hook(&name, &args) {
        return hook::run(&env, by, host).into();
    }
    match args.split_first() {
        None if !std::io::stdin().is_terminal() => {
            if let Some(exit) = hook::run_bare(&env) {
                return exit.into();
            }
        }
        Some((verb, rest)) if verb == guard::VERB => {
            return guard::main(rest.iter().cloned());
        }
        Some((verb, rest)) if verb == guard::KEEPER => return guard::keep(rest.first()),
        Some((verb, [what])) if verb == "claim" && what == "watch" => {
            return machines::claim::commands::watch::run(&env).into();
        }
        Some((verb, rest)) if verb == "compat" => {
            if let Some(code) = compat::run(&env, rest) {
                return code;
            }
        }
        Some(_) | None => {}
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "a command is about the directory that it was typed in"
    )]
    // If it was deleted, no other directory takes its place, least of all `/`.
    let cwd = std::env::current_dir().unwrap_or_default();
    let cmd = CommandContext {
        paint: Paint::detect(&env),
        width: terminal::size().map(|(columns, _)| columns),
        env,
        cwd,
        typed_in: TypedIn::Shell,
        typed: typed(&args),
    };
    parse_and_run(args, &cmd)
}

/// The command line as a shell takes it; empty if no shell can.
fn typed(args: &[OsString]) -> String {
    let words: Vec<_> = args.iter().map(|word| word.to_string_lossy()).collect();
    shlex::try_join(words.iter().map(AsRef::as_ref)).unwrap_or_default()
}

/// Is this `mainspring hook`, by either of our names? Then also the host that it names.
fn called_as_hook(
    name: &OsString,
    args: &[OsString],
) -> Option<(CalledBy, Option<&'static HostSpec>)> {
    match args {
        [verb] if verb == "hook" => return Some((CalledBy::Name, None)),
        [verb, option, host] if verb == "hook" && option == "--host" => {
            return Some((CalledBy::Name, Some(hosts::named(host.to_str()?)?)));
        }
        _ => {}
    }
    if program::name(Path::new(name))? != call::HOOK {
        return None;
    }
    match args {
        [] => Some((CalledBy::Name, None)),
        [file] if file == call::SHARED => Some((CalledBy::SharedSettings, None)),
        _ => None,
    }
}

fn parse_and_run(args: Vec<OsString>, cmd: &CommandContext) -> ExitCode {
    let as_json = args.iter().any(|word| word == "--json");
    match parse(args.into_iter()) {
        // Not `Usage`: to a host that dropped our arguments, 2 would mean to block.
        Err(error) if is_bare(&error) => {
            output::stderr(error.render().to_string().trim_end());
            Exit::Failure.into()
        }
        Err(error) if error.use_stderr() => {
            output::stderr(error.render().to_string().trim_end());
            Exit::Usage.into()
        }
        // Help is not an error. The parser prints it, in its colours.
        Err(help) => {
            let _ = help.print();
            Exit::Success.into()
        }
        Ok(cli) => finish(run_fitted(cli, cmd), cmd, as_json).into(),
    }
}

/// Runs a command. What it says to a person fits their window; what is for a program is not
/// touched.
fn run_fitted(cli: Cli, cmd: &CommandContext) -> Result<String, CliError> {
    let is_for_a_program = matches!(
        cli.verb,
        Verb::Completions(_) | Verb::Man(_) | Verb::Graph(_)
    );
    let fitted = |text: String| match text.as_bytes().first() {
        // JSON, as every `--json` prints it.
        Some(b'{') => text,
        _ if is_for_a_program => text,
        _ => wrap(&text, cmd.width),
    };
    run(cli, cmd).map(fitted).map_err(|error| match error.kind {
        FailureKind::Shown(exit) => CliError::shown(fitted(error.cause), exit),
        _ => error,
    })
}

/// Prints what a command said. Why it failed goes to stderr for people, and to stdout where a
/// program reads that.
fn finish(said: Result<String, CliError>, cmd: &CommandContext, as_json: bool) -> Exit {
    match said {
        Ok(text) if pager::shows(&cmd.env, &text, cmd.paint) => Exit::Success,
        Ok(text) => match output::stdout(&text, cmd.paint) {
            Ok(()) => Exit::Success,
            // In `mainspring log | head`, it is `head` that ends first. That is no failure.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Exit::Success,
            Err(error) => {
                output::stderr(&format!(
                    "mainspring: the command succeeded, but its output cannot be written: {error}"
                ));
                Exit::Failure
            }
        },
        Err(CliError {
            kind: FailureKind::Shown(exit),
            cause: text,
            ..
        }) => output::stdout(&text, cmd.paint).map_or(Exit::Failure, |()| exit),
        Err(error) => {
            if as_json && let Ok(text) = json(&BTreeMap::from([("error", &error)])) {
                let _ = output::stdout(&text, cmd.paint);
            }
            let at_terminal = std::io::stderr().is_terminal();
            let width = cmd.width.filter(|_| at_terminal);
            output::stderr(&wrap(&error.to_string(), width));
            Exit::Failure
        }
    }
}

/// Was nothing typed but our name?
fn is_bare(error: &clap::Error) -> bool {
    error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
}

/// The command line as data, for the completions, the manual and the reference.
pub(crate) fn command() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}

/// Runs a command line in this process, as the demo does.
fn dispatch(args: Vec<OsString>, cmd: &CommandContext) -> Result<String, CliError> {
    let cli = parse(args.into_iter()).map_err(|error| CliError::usage(error.render()))?;
    run(cli, cmd)
}

fn parse(args: impl Iterator<Item = OsString>) -> Result<Cli, clap::Error> {
    Cli::try_parse_from([OsString::from("mainspring")].into_iter().chain(args))
}

fn run(cli: Cli, cmd: &CommandContext) -> Result<String, CliError> {
    match cli.verb {
        Verb::Hook(args) => Err(args.refusal()),
        Verb::Compat(_) => Err(CliError::usage(
            "`mainspring compat` answers a host, and cannot run in the demo",
        )),
        Verb::Install(args) => setup::install::run(&args, cmd),
        Verb::Uninstall(args) => setup::install::uninstall(&args, cmd),
        Verb::Doctor(args) => setup::doctor::run(&args, cmd),
        Verb::Status(args) => show::status::run(&args, cmd),
        Verb::Sessions(args) => show::sessions::run(&args, cmd),
        Verb::Why(args) => show::why::run(&args, cmd),
        Verb::Log(args) => show::log::run(&args, cmd),
        Verb::View(args) => show::view::run(&args, cmd),
        Verb::Stop(args) => people::brake::stop(&args, cmd),
        Verb::Pause(args) => people::brake::pause(&args, cmd),
        Verb::Resume(args) => people::brake::resume(&args, cmd),
        Verb::Observe(args) => people::brake::observe(&args, cmd),
        Verb::Config(args) => setup::config::run(&args, cmd),
        Verb::Debug(args) => debug::run(&args, cmd),
        Verb::Tasks(args) => machines::tasks::commands::run(&args, cmd),
        Verb::Trust(args) => people::trust_command::run(&args, cmd),
        Verb::Untrust(args) => people::trust_command::untrust(&args, cmd),
        Verb::Gate(args) => machines::gate::commands::run(&args, cmd),
        Verb::Loop(args) => machines::looping::commands::run(&args, cmd),
        Verb::Check(args) => machines::check::commands::run(&args, cmd),
        Verb::Graph(args) => show::graph::run(&args, cmd),
        Verb::Plan(args) => machines::review::commands::run(&args, cmd),
        Verb::Claim(args) => machines::claim::commands::run(&args, cmd),
        Verb::Handoff(args) => machines::claim::commands::handoff::run(&args, cmd),
        Verb::Pulse(args) => machines::pulse::commands::run(&args, cmd),
        Verb::Completions(args) => setup::completions::run(&args, &command()),
        Verb::Man(args) => setup::man::run(&args, cmd, command()),
        Verb::Demo(args) => demo::run(&args, cmd, dispatch),
    }
}

#[cfg(test)]
mod tests {
    use mainspring_kernel::authority;

    use super::command;

    /// Every command that can be typed, by its words.
    fn leaves(command: &clap::Command, words: &str, found: &mut Vec<String>) {
        let subcommands: Vec<_> = command.get_subcommands().collect();
        let runs_itself = subcommands.is_empty() || !command.is_subcommand_required_set();
        if runs_itself && !words.is_empty() {
            found.push(words.to_owned());
        }
        for sub in subcommands {
            let words = format!("{words} {}", sub.get_name());
            leaves(sub, words.trim(), found);
        }
    }

    #[test]
    fn the_table_of_who_may_say_what_has_every_command_and_no_other() {
        let mut found = Vec::new();
        leaves(&command(), "", &mut found);
        found.retain(|words| !words.starts_with("compat "));
        found.push("compat".into());
        for words in &found {
            let row = authority::TABLE.iter().find(|row| row.command == words);
            assert!(row.is_some(), "no row for `{words}`");
        }
        for row in authority::TABLE {
            // A row may be about one form of a command.
            let is_form_of = |words: &String| row.command.starts_with(&format!("{words} "));
            let known = found
                .iter()
                .any(|words| words == row.command || is_form_of(words));
            assert!(known, "no command `{}`", row.command);
        }
    }
}
