//! `mainspring man`: the manual.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::time::Duration;

use clap::Command;

use crate::children::child_env::{self, PERSON};
use crate::children::permit::Permit;
use crate::children::process::Job;
use crate::command::{CommandContext, Result, write_all};
use crate::error::CliError;

/// Show a page of the manual, or write all pages where `man` looks for them.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring man                                   the program\n  mainspring man claim                             one command\n  mainspring man --dir ~/.local/share/man/man1     all pages, for `man mainspring-claim`"
)]
pub(crate) struct Args {
    /// The command that the page is about
    command: Option<String>,
    /// Write all pages into this folder
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    dir: Option<PathBuf>,
}

/// Formatting a page takes a moment; a `man` that takes longer waits for something.
const LIMIT: Duration = Duration::from_secs(10);

/// `cli` is the whole command line.
pub(crate) fn run(args: &Args, cmd: &CommandContext, mut cli: Command) -> Result {
    cli.build();
    if let Some(dir) = &args.dir {
        let mut files = vec![("mainspring.1".to_owned(), page(&cli, "mainspring")?)];
        for command in cli.get_subcommands().filter(|one| has_page(one)) {
            let name = format!("mainspring-{}", command.get_name());
            files.push((format!("{name}.1"), page(command, &name)?));
        }
        return write_all(dir, &files);
    }
    let (name, command) = match &args.command {
        None => ("mainspring".to_owned(), &cli),
        Some(wanted) => {
            let found = cli.find_subcommand(wanted).filter(|one| has_page(one));
            let command = found.ok_or_else(|| {
                CliError::not_found(format!("there is no command `{wanted}`"))
                    .hint("`mainspring --help` lists the commands")
            })?;
            (format!("mainspring-{wanted}"), command)
        }
    };
    if std::io::stdout().is_terminal()
        && let Some(shown) = formatted(cmd, &page(command, &name)?)
    {
        return Ok(shown);
    }
    Ok(command.clone().render_long_help().to_string())
}

fn has_page(command: &Command) -> bool {
    command.get_name() != "help"
}

/// The page's source.
fn page(command: &Command, name: &str) -> Result {
    let mut bytes = Vec::new();
    let page = clap_mangen::Man::new(command.clone()).title(name);
    page.render(&mut bytes).map_err(CliError::new)?;
    String::from_utf8(bytes).map_err(CliError::new)
}

/// The page as the system's `man` formats it, if there is a `man`.
fn formatted(cmd: &CommandContext, page: &str) -> Option<String> {
    // An agent gets the page as plain text, so that no program is started for it.
    if cmd.env.agent().is_some() {
        return None;
    }
    let man = cmd.env.program("man")?;
    let done = Job::new(Permit::for_view(), man, LIMIT)
        .args(["-l", "-"])
        .env(child_env::listed(&cmd.env, &[PERSON]))
        .stdin(page.as_bytes().to_vec())
        .run()
        .ok()?;
    let text = String::from_utf8(done.stdout).ok()?;
    // On a system without manuals, `man` succeeds and only says so.
    (done.code == Some(0) && text.contains("mainspring")).then_some(text)
}
