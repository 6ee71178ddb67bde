//! `mainspring config`: every setting, where its value comes from, and how to change it.

mod change;

use std::path::{Path, PathBuf};

use serde::Serialize;

use mainspring_store::ShownPath as _;

use self::change::Which;
use crate::command::{CommandContext, Result};
use crate::config::{self, Config, InForce, Key, PROJECT_FILE, Value, Writer, schema};
use crate::error::CliError;
use crate::exit::Exit;

/// Show every setting, with its value and where that comes from; or change one.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  mainspring config                          every setting, and where it comes from\n  mainspring config get review.models\n  mainspring config set review.models opus,sonnet\n  mainspring config set checks.max 3 --project     in mainspring.toml\n  mainspring config edit                     your own settings, in your editor\n  mainspring config check                    problems in the settings files\n  mainspring config schema > schema.json     for your editor"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    task: Option<Task>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Task {
    /// Print one setting's value
    Get {
        /// Its name, such as review.models
        name: String,
        /// As JSON, with where it comes from
        #[arg(long)]
        json: bool,
    },
    /// Set one setting; comments and everything else in the file stay
    Set {
        /// Its name, such as review.models
        name: String,
        /// Its value; a list is separated by commas
        value: String,
        #[command(flatten)]
        which: Which,
    },
    /// Take one setting out of the file
    Unset {
        /// Its name, such as review.models
        name: String,
        #[command(flatten)]
        which: Which,
    },
    /// Open the file in $VISUAL or $EDITOR; it is replaced only by a text without mistakes
    Edit {
        #[command(flatten)]
        which: Which,
    },
    /// Check the settings files, and name every problem with its line and column
    Check {
        /// The file to check; default: the project's file and yours
        file: Option<PathBuf>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON Schema of mainspring.toml
    Schema,
}

#[derive(Serialize)]
struct View<'a> {
    settings: Vec<Row>,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    value: Value,
    from: String,
    about: &'static str,
}

impl Row {
    fn of(setting: InForce<'_>) -> Self {
        Self {
            name: setting.key.name,
            value: setting.value,
            from: setting.source.to_string(),
            about: setting.key.about,
        }
    }
}

pub(crate) fn run(args: &Args, cmd: &CommandContext) -> Result {
    match &args.task {
        None => show(args, cmd),
        Some(Task::Get { name, json }) => get(name, *json, cmd),
        Some(Task::Set { name, value, which }) => change::set(name, value, *which, cmd),
        Some(Task::Unset { name, which }) => change::unset(name, *which, cmd),
        Some(Task::Edit { which }) => change::edit(*which, cmd),
        Some(Task::Check { file, json }) => {
            let files = check(file.as_deref(), cmd)?;
            let text = if *json {
                crate::command::json_list("files", &files)?
            } else {
                files.iter().map(|file| file.render(cmd)).collect()
            };
            let exits: Vec<Exit> = files.iter().map(Checked::exit).collect();
            let worst = [Exit::Failure, Exit::Warned]
                .into_iter()
                .find(|exit| exits.contains(exit));
            match worst {
                None => Ok(text),
                Some(exit) => Err(CliError::shown(text, exit)),
            }
        }
        Some(Task::Schema) => crate::command::plain_json(&schema::schema()),
    }
}

/// The setting of this name.
fn known(name: &str) -> Result<&'static Key> {
    let known = config::keys().find(|key| key.name == name);
    known.ok_or_else(|| CliError::usage(config::unknown(name)))
}

fn get(name: &str, json: bool, cmd: &CommandContext) -> Result {
    let key = known(name)?;
    let (project, store) = cmd.project()?;
    let config = cmd.config(&project, &store)?;
    let setting = config.in_force(key);
    if json {
        return crate::command::json(&Row::of(setting));
    }
    Ok(format!("{}\n", setting.value.plain()))
}

/// One file, as it was found.
#[derive(Serialize)]
struct Checked {
    file: String,
    /// `None`: there is no such file, which is fine.
    settings: Option<usize>,
    /// Settings that are ignored, and why.
    warnings: Vec<String>,
    /// Why the whole file is ignored.
    error: Option<String>,
}

impl Checked {
    /// A file that cannot be read is an error; a setting that is ignored is a warning.
    fn exit(&self) -> Exit {
        match (&self.error, self.warnings.as_slice()) {
            (Some(_), _) => Exit::Failure,
            (None, []) => Exit::Success,
            (None, _) => Exit::Warned,
        }
    }

    fn render(&self, cmd: &CommandContext) -> String {
        let place = &self.file;
        if let Some(error) = &self.error {
            return format!("{} {error}\n", cmd.paint.bold("error:"));
        }
        let mut out = String::new();
        for warning in &self.warnings {
            out += &format!("{} {place}: {warning}\n", cmd.paint.warn("warning:"));
        }
        out += &match self.settings {
            None => format!("{place}: does not exist, which is fine\n"),
            Some(1) => format!("{place}: 1 setting\n"),
            Some(count) => format!("{place}: {count} settings\n"),
        };
        out
    }
}

fn check(file: Option<&Path>, cmd: &CommandContext) -> Result<Vec<Checked>> {
    let (project, _) = cmd.project()?;
    let files = if let Some(path) = file {
        vec![(cmd.cwd.join(path), Writer::User)]
    } else {
        let project = (project.root.join(PROJECT_FILE), Writer::Project);
        let user = cmd.env.config_file().map(|path| (path, Writer::User));
        [project].into_iter().chain(user).collect()
    };
    let mut found = Vec::new();
    for (path, writer) in files {
        let mut checked = Checked {
            file: path.shown(),
            settings: None,
            warnings: Vec::new(),
            error: None,
        };
        if std::fs::symlink_metadata(&path).is_err() {
            if file.is_some() {
                return Err(CliError::no_file(&path).hint(
                    "`mainspring config check` without a name checks the project's file and yours",
                ));
            }
        } else {
            match Config::check(&cmd.env, &path, writer) {
                Err(trouble) => checked.error = Some(trouble.to_string()),
                Ok((count, warnings)) => {
                    checked.settings = Some(count);
                    checked.warnings = warnings;
                }
            }
        }
        found.push(checked);
    }
    Ok(found)
}

fn show(args: &Args, cmd: &CommandContext) -> Result {
    let (project, store) = cmd.project()?;
    let config = cmd.config(&project, &store)?;
    if args.json {
        let settings = config.all().into_iter().map(Row::of).collect();
        return crate::command::json(&View {
            settings,
            warnings: &config.warnings,
        });
    }
    let mut out = String::new();
    let mut section = "";
    for setting in config.all() {
        let (here, name) = setting.key.halves();
        if here != section {
            if !section.is_empty() {
                out.push('\n');
            }
            section = here;
            out += &format!("{}\n", cmd.paint.bold(&format!("[{section}]")));
        }
        out += &format!("{name} = {}", setting.value);
        out += &cmd
            .paint
            .dim(&format!("  # {}: {}\n", setting.source, setting.key.about));
    }
    for ignored in &config.ignored {
        out += &format!("{} {ignored}\n", cmd.paint.warn("warning:"));
    }
    for warning in &config.warnings {
        out += &format!("{} {warning}\n", cmd.paint.warn("warning:"));
    }
    Ok(out)
}
