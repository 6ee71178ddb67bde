//! `mainspring completions`: what a shell needs to complete our commands.

use std::path::PathBuf;

use clap::{Command, ValueEnum as _};
use clap_complete::{Generator as _, Shell};

use crate::command::{Result, write_all};
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

/// `cli` is the whole command line.
pub(crate) fn run(args: &Args, cli: &Command) -> Result {
    let shells = args
        .shell
        .as_ref()
        .map_or_else(Shell::value_variants, std::slice::from_ref);
    let Some(dir) = &args.dir else {
        return shells.iter().map(|shell| script(*shell, cli)).collect();
    };
    let mut files = Vec::new();
    for shell in shells {
        files.push((shell.file_name("mainspring"), script(*shell, cli)?));
    }
    write_all(dir, &files)
}

fn script(shell: Shell, cli: &Command) -> Result {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut cli.clone(), "mainspring", &mut bytes);
    String::from_utf8(bytes).map_err(CliError::new)
}
