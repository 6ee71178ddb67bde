//! `mainspring config`: what is in force, and from where.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{Desk, Result};
use crate::config::{Config, PROJECT_FILE, Reach, Value, schema};
use crate::error::CliError;
use crate::exit::Exit;

/// Show every setting: its value, and where it came from.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    task: Option<Task>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Task {
    /// Read the files as they are written, and name every problem with its line and column
    Check {
        /// A file; without one, the project's and yours
        file: Option<PathBuf>,
    },
    /// Print the JSON Schema of mainspring.toml
    Schema,
}

#[derive(Serialize)]
struct View<'a> {
    settings: Vec<Row<'a>>,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    value: &'a Value,
    from: String,
    about: &'a str,
}

pub(crate) fn run(args: &Args, desk: &Desk) -> Result {
    match &args.task {
        None => show(args, desk),
        Some(Task::Check { file }) => check(file.as_deref(), desk),
        Some(Task::Schema) => super::json(&schema::schema(crate::machine::keys())),
    }
}

/// What cannot be understood is an error, what is not taken a warning.
fn check(file: Option<&Path>, desk: &Desk) -> Result {
    let (site, _) = desk.site()?;
    let files = if let Some(path) = file {
        vec![(path.to_owned(), Reach::User)]
    } else {
        let project = (site.root.join(PROJECT_FILE), Reach::Anyone);
        let user = desk.world.config_file().map(|path| (path, Reach::User));
        [project].into_iter().chain(user).collect()
    };
    let mut out = String::new();
    let mut worst = Exit::Success;
    for (path, writer) in files {
        let place = path.display();
        if std::fs::symlink_metadata(&path).is_err() {
            if file.is_some() {
                return Err(CliError::new(format!("there is no file {place}")));
            }
            out += &format!("{place}: not there, which is fine\n");
            continue;
        }
        match Config::check(&path, writer) {
            Err(trouble) => {
                worst = Exit::Failure;
                out += &format!("{} {trouble}\n", desk.paint.bold("error:"));
            }
            Ok((count, warnings)) => {
                for warning in &warnings {
                    out += &format!("{} {place}: {warning}\n", desk.paint.warn("warning:"));
                }
                if !warnings.is_empty() && worst == Exit::Success {
                    worst = Exit::Warned;
                }
                out += &format!("{place}: {count} settings\n");
            }
        }
    }
    match worst {
        Exit::Success => Ok(out),
        exit => Err(CliError::shown(out, exit)),
    }
}

fn show(args: &Args, desk: &Desk) -> Result {
    let (site, _) = desk.site()?;
    let config = Config::load(&desk.world, &site.root)?;
    if args.json {
        let settings = config
            .all()
            .map(|setting| Row {
                name: setting.key.name,
                value: &setting.value,
                from: setting.source.to_string(),
                about: setting.key.about,
            })
            .collect();
        return super::json(&View {
            settings,
            warnings: &config.warnings,
        });
    }
    let mut out = String::new();
    let mut section = "";
    for setting in config.all() {
        let (here, name) = setting
            .key
            .name
            .split_once('.')
            .unwrap_or(("", setting.key.name));
        if here != section {
            if !section.is_empty() {
                out.push('\n');
            }
            section = here;
            out += &format!("{}\n", desk.paint.bold(&format!("[{section}]")));
        }
        out += &format!("{name} = {}", setting.value);
        out += &desk
            .paint
            .dim(&format!("  # {}: {}\n", setting.source, setting.key.about));
    }
    for warning in &config.warnings {
        out += &format!("{} {warning}\n", desk.paint.warn("warning:"));
    }
    Ok(out)
}
