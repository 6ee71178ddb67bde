//! `mainspring config`: what is in force, and from where.

use serde::Serialize;

use super::{Desk, Result};
use crate::config::{Config, Value};

/// Show every setting: its value, and where it came from.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// As JSON
    #[arg(long)]
    json: bool,
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
