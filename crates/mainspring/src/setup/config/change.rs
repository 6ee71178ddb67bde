//! `mainspring config set|unset|edit`: changes one of the two settings files. Comments and
//! everything else in it stay.

use std::path::PathBuf;

use mainspring_kernel::authority::Grounds;
use mainspring_kernel::machines::gate::verbs::Switch;
use mainspring_store::{ShownPath as _, Trouble, atomic, no_symlink};
use toml_edit::{Array, DocumentMut, Item, Table, Value as Toml};

use super::{CommandContext, Result, known};
use crate::children::permit::Permit;
use crate::children::process;
use crate::config::{self, Key, PROJECT_FILE, Reach, Source, Value, Writer};
use crate::context::EventContext;
use crate::env::name;
use crate::error::CliError;
use crate::limits;
use crate::machines::gate::switch;
use crate::people::own_files;
use crate::people::trust::{Permission, ProjectSettings, Proposal};
use crate::project::Project;
use crate::setup::install::guard;
use crate::setup::replace_in_repository;
use crate::store::StateDir;

/// Which file is changed.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct Which {
    /// The project's mainspring.toml, for everybody who works on it; default: your own
    /// config.toml, for all projects
    #[arg(long)]
    project: bool,
}

/// A settings file, as it was found.
struct File {
    path: PathBuf,
    text: String,
    writer: Writer,
    project: Project,
    state: StateDir,
}

impl File {
    fn open(which: Which, cmd: &CommandContext) -> Result<Self> {
        let (project, store) = cmd.project()?;
        let state = store.state().clone();
        let (path, writer) = if which.project {
            (project.root.join(PROJECT_FILE), Writer::Project)
        } else {
            let path = cmd.env.config_file();
            let path =
                path.ok_or_else(|| CliError::not_found("there is no home").hint("set HOME"))?;
            (own_files::real_path(&cmd.env, &path)?, Writer::User)
        };
        let text = match writer {
            Writer::Project => no_symlink::read(&path, limits::CONFIG)?.unwrap_or_default(),
            Writer::User => atomic::read(&path, limits::CONFIG)?.unwrap_or_default(),
        };
        let text =
            String::from_utf8(text).map_err(|_| Trouble::corrupt(&path, "it is not UTF-8 text"))?;
        Ok(Self {
            path,
            text,
            writer,
            project,
            state,
        })
    }

    /// The file as something that can be changed. One with a mistake is left alone.
    fn document(&self) -> Result<DocumentMut> {
        config::check_text(&self.path, &self.text, self.writer)?;
        self.text.parse().map_err(|error| {
            CliError::damaged(format!("{}: {error}", self.path.shown()))
                .hint("`mainspring config check` says where")
        })
    }

    /// Replaces the file, if the text is one that can be read. What a person writes into a
    /// trusted project with this command is trusted in this step.
    fn write(&self, cmd: &CommandContext, text: &str) -> Result {
        config::check_text(&self.path, text, self.writer)?;
        let trust = self.trust(cmd)?;
        if text == self.text {
            return Ok(trust.waits());
        }
        match self.writer {
            Writer::Project => replace_in_repository(&self.path, text)?,
            Writer::User => {
                if let Some(folder) = self.path.parent() {
                    std::fs::create_dir_all(folder).map_err(Trouble::io("create", folder))?;
                }
                atomic::replace(&self.path, text.as_bytes())?;
            }
        }
        Ok(match trust {
            Standing::AsBefore => String::new(),
            Standing::Follows => {
                let proposal = Proposal::of(&cmd.env, &self.state, &self.project.root)?;
                proposal.grant(&self.state, &self.project.root, cmd.env.now())?;
                "you trust it as it is now\n".into()
            }
            Standing::Waits(_) => trust.waits(),
        })
    }

    fn trust(&self, cmd: &CommandContext) -> Result<Standing> {
        if self.writer == Writer::User {
            return Ok(Standing::AsBefore);
        }
        let root = &self.project.root;
        let permission = Permission::look(&cmd.env, &self.state, root);
        if !matches!(
            permission,
            Permission::Trusted(_) | Permission::BelowRoot { .. }
        ) {
            return Ok(Standing::Waits("this project is not trusted"));
        }
        Ok(match permission.settings(&cmd.env, root)? {
            ProjectSettings::Current(_) | ProjectSettings::None => match permission {
                Permission::Trusted(_) => Standing::Follows,
                _ => Standing::AsBefore,
            },
            ProjectSettings::Untrusted
            | ProjectSettings::Newer { .. }
            | ProjectSettings::Removed { .. }
            | ProjectSettings::Ignored { .. } => {
                Standing::Waits("the file has changes that you did not trust yet")
            }
        })
    }
}

/// Does the new text count?
enum Standing {
    AsBefore,
    /// The person who typed the command trusts what it writes.
    Follows,
    Waits(&'static str),
}

impl Standing {
    /// What the new text waits for, if it does.
    fn waits(&self) -> String {
        match self {
            Self::AsBefore | Self::Follows => String::new(),
            Self::Waits(why) => format!("{why}: `mainspring trust` lets it count\n"),
        }
    }
}

pub(super) fn set(name: &str, value: &str, which: Which, cmd: &CommandContext) -> Result {
    cmd.may("config set", Grounds::Nothing)?;
    let key = known(name)?;
    if key.reach == Reach::User && which.project {
        return Err(CliError::refused(format!(
            "{name} decides what is executed, so a project cannot set it"
        ))
        .hint(format!("mainspring config set {name} {value}")));
    }
    let parsed = key.notation.parse(value);
    let parsed = parsed.map_err(|problem| CliError::usage(format!("{name}: {problem}")))?;
    let file = File::open(which, cmd)?;
    let mut document = file.document()?;
    let (section, last) = key.halves();
    let table = document.entry(section).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(false);
        Item::Table(table)
    });
    let table = table.as_table_like_mut().ok_or_else(|| {
        CliError::refused(format!("{section} is a list in {}", file.path.shown()))
            .hint("set it in the other file")
    })?;
    let mut new = toml(value, &parsed);
    let written = new.to_string();
    match table.get_mut(last).and_then(Item::as_value_mut) {
        Some(old) => {
            // The comment behind the old value stays.
            *new.decor_mut() = old.decor().clone();
            *old = new;
        }
        None => drop(table.insert(last, Item::Value(new))),
    }
    let text = document.to_string();
    let same = if text == file.text {
        "nothing changed: "
    } else {
        ""
    };
    let told = file.write(cmd, &text)?;
    let in_force = in_force(cmd, key, &file, &parsed)?;
    let next = match name {
        guard::SETTING => {
            let (project, store) = cmd.project()?;
            guard::hint(cmd, &project, &store)
        }
        _ => String::new(),
    };
    Ok(format!(
        "{same}{name} = {written} in {}\n{told}{in_force}{next}",
        file.path.shown()
    ))
}

pub(super) fn unset(name: &str, which: Which, cmd: &CommandContext) -> Result {
    cmd.may("config unset", Grounds::Nothing)?;
    let key = known(name)?;
    let file = File::open(which, cmd)?;
    let mut document = file.document()?;
    let (section, last) = key.halves();
    let table = document.get_mut(section).and_then(Item::as_table_like_mut);
    let removed = table.and_then(|table| table.remove(last));
    if removed.is_none() {
        return Err(
            CliError::not_found(format!("{name} is not set in {}", file.path.shown()))
                .hint("`mainspring config` shows where each value comes from"),
        );
    }
    if is_bare(&document, section) {
        document.remove(section);
    }
    let told = file.write(cmd, &document.to_string())?;
    Ok(format!(
        "{name} is not set in {} any more\n{told}",
        file.path.shown()
    ))
}

pub(super) fn edit(which: Which, cmd: &CommandContext) -> Result {
    cmd.may("config edit", Grounds::Nothing)?;
    let file = File::open(which, cmd)?;
    let editor = [name::VISUAL, name::EDITOR]
        .iter()
        .find_map(|name| cmd.env.var(name));
    let editor = editor.unwrap_or_else(|| "vi".into());
    let words = shlex::split(&editor).filter(|words| !words.is_empty());
    let words =
        words.ok_or_else(|| CliError::usage(format!("$EDITOR is no command: {editor:?}")))?;
    // A copy: the file itself is replaced only by a text that can be read.
    let state = cmd.state()?;
    state.create(state.root())?;
    let copy = state
        .root()
        .join(format!("edit-{}.toml", std::process::id()));
    atomic::replace(&copy, file.text.as_bytes())?;
    let ended = process::attended(&Permit::for_view(), &words, &copy);
    let ended = ended.map_err(|error| {
        CliError::new(format!("cannot start {editor:?}: {error}")).hint("set EDITOR")
    })?;
    let text = atomic::read_text(&copy, limits::CONFIG)?.unwrap_or_default();
    if !ended.success() {
        let _ = std::fs::remove_file(&copy);
        return Err(CliError::new("the editor failed, so nothing was changed"));
    }
    let told = file
        .write(cmd, &text)
        .map_err(|error| error.hint(format!("your text is kept in {}", copy.shown())))?;
    let _ = std::fs::remove_file(&copy);
    if text == file.text {
        return Ok(format!("{} is unchanged\n", file.path.shown()));
    }
    Ok(format!("{} is written\n{told}", file.path.shown()))
}

/// A value as it is written in the file: a span as it was typed.
fn toml(typed: &str, value: &Value) -> Toml {
    match value {
        Value::Switch(on) => (*on).into(),
        Value::Number(number) => i64::try_from(*number).unwrap_or(i64::MAX).into(),
        Value::Text(text) => (&**text).into(),
        Value::Span(_) => typed.into(),
        Value::List(list) => Toml::Array(list.iter().map(|item| &**item).collect::<Array>()),
        Value::Amount(_) => typed
            .parse()
            .unwrap_or_else(|_| Toml::from(value.to_string())),
    }
}

/// Is nothing left of this section but its header? A comment above, behind or below the header is
/// the person's, and keeps it.
fn is_bare(document: &DocumentMut, section: &str) -> bool {
    let table = document.get(section).and_then(Item::as_table);
    if table.is_none_or(|table| !table.is_empty()) {
        return false;
    }
    let text = document.to_string();
    let header = format!("[{section}]");
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let Some(at) = lines.iter().position(|line| *line == header) else {
        return false;
    };
    let is_comment = |line: Option<&&str>| line.is_some_and(|line| line.starts_with('#'));
    let above = at.checked_sub(1).and_then(|at| lines.get(at));
    let below = lines.iter().skip(at + 1).find(|line| !line.is_empty());
    !is_comment(above) && !is_comment(below)
}

/// What counts instead, if another place sets it, too.
fn in_force(cmd: &CommandContext, key: &'static Key, file: &File, value: &Value) -> Result {
    let context = cmd.context()?;
    let other = Some(context.config()?.in_force(key)).filter(|one| {
        one.value != *value && *one.source != Source::File(file.path.as_path().into())
    });
    let mut told = match other {
        Some(one) if matches!(file.trust(cmd)?, Standing::Waits(_)) => match one.source {
            Source::Default => format!("until then the default, {}, counts\n", one.value),
            source => format!("until then {source} counts, with {}\n", one.value),
        },
        Some(one) => format!(
            "but {} sets it to {}, which counts\n",
            one.source, one.value
        ),
        None => String::new(),
    };
    if let ("gate.enabled", Value::Switch(on)) = (key.name, value) {
        told += &overruled(&context, *on)?;
    }
    Ok(told)
}

/// A person's switch of the gate for this project counts more than the setting.
fn overruled(context: &EventContext<'_>, enabled: bool) -> Result {
    let (counts, undoes) = match (switch::project(context)?.0.switch, enabled) {
        (Some(Switch::Off), true) => ("off", "on"),
        (Some(Switch::On), false) => ("on", "off"),
        (Some(_) | None, _) => return Ok(String::new()),
    };
    Ok(format!(
        "but `mainspring gate {counts} --project` counts here; `mainspring gate {undoes} --project` \
         undoes it\n"
    ))
}
