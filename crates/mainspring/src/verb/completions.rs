//! `mainspring completions`: what a shell needs to complete our commands.

use std::path::PathBuf;

use clap::ValueEnum as _;
use clap_complete::{Generator as _, Shell};

use super::{CommandContext, Result, write_all};
use crate::cli;
use crate::error::CliError;

/// Print a shell's completion script, or write it where the shell looks for it.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mainspring completions bash --dir ~/.local/share/bash-completion/completions\n  mainspring completions zsh --dir ~/.zfunc        with ~/.zfunc in $fpath\n  mainspring completions fish --dir ~/.config/fish/completions"
)]
pub(crate) struct Args {
    /// The shell
    #[arg(required_unless_present = "dir")]
    shell: Option<Shell>,
    /// Write the script into this folder, under the name that the shell expects; without SHELL,
    /// write the scripts of all shells
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, _: &CommandContext) -> Result {
    let shells = args
        .shell
        .as_ref()
        .map_or_else(Shell::value_variants, std::slice::from_ref);
    let Some(dir) = &args.dir else {
        return shells.iter().copied().map(script).collect();
    };
    let mut files = Vec::new();
    for shell in shells {
        files.push((shell.file_name("mainspring"), script(*shell)?));
    }
    write_all(dir, &files)
}

fn script(shell: Shell) -> Result {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut cli::command(), "mainspring", &mut bytes);
    String::from_utf8(bytes).map_err(CliError::new)
}
