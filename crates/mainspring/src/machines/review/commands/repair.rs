//! `mainspring plan repair`: mend a `state.json` that cannot be read.

use std::path::Path;

use mainspring_kernel::Name;
use mainspring_kernel::machines::review::{Fields, messages};
use mainspring_store::{ShownPath as _, atomic, path_text};

use super::Which;
use crate::command::{CommandContext, Result};
use crate::error::CliError;
use crate::machines::review::record;
use crate::show::journal_cursor::Shown;
use crate::show::records;
use crate::store::{ProjectStore, aside_path};

/// Mend a `state.json` that cannot be read: put back its last good content, and keep the broken
/// file beside it
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    which: Which,
}

pub(super) fn run(args: &Args, cmd: &CommandContext) -> Result {
    let context = cmd.context()?;
    let opened = args.which.open(&context)?;
    let plan = &opened.dir.id;
    if opened.plan().is_ok_and(|plan| is_good(&plan.fields)) {
        return Ok(format!("state.json of plan '{plan}' can be read\n"));
    }
    let path = &opened.state_file.path;
    let Some(known) = last_known(&context.store, path)? else {
        return Err(CliError::not_found(format!(
            "the journal has no content of {} to put back",
            path.shown()
        ))
        .hint(format!(
            "repair it by hand, or move it away and record the plan anew: {}",
            messages::command_without_plan(&format!("init {}", messages::quoted(plan)))
        )));
    };
    let which = Which {
        plan: Some(plan.clone()),
    };
    let mut kept = String::new();
    let did = cmd.commit(Name::Review, "plan repair", |context| {
        let opened = which.open(context)?;
        let file = &opened.state_file;
        let mut files = Vec::new();
        if let Some(bytes) = &file.bytes {
            let aside = aside_path(&file.path, bytes);
            kept = format!("the broken file is kept as {}\n", aside.shown());
            let broken = String::from_utf8_lossy(bytes).into_owned();
            files.push(atomic::change(&aside, None, Some(broken)));
        }
        files.push(atomic::change(
            &file.path,
            file.bytes.as_deref(),
            Some(known.clone()),
        ));
        let did = format!(
            "state.json of plan '{}' is as the journal has it",
            opened.dir.id
        );
        Ok((files, did))
    })?;
    Ok(format!(
        "{did}\n{kept}{} says what comes next\n",
        messages::command(plan, "route")
    ))
}

fn is_good(fields: &Fields) -> bool {
    fields.undecidable().is_none()
}

/// The last content of the file that a record has and that can be read.
fn last_known(store: &ProjectStore, path: &Path) -> Result<Option<String>> {
    let name = path_text::to_text(path);
    let records = records::all(store.dir()).unwrap_or_default();
    let mut contents = records.into_iter().rev().flat_map(|line| match line {
        Shown::Record(record) => record.files,
        Shown::Problem(_) => Vec::new(),
    });
    Ok(contents.find_map(|change| {
        let text = change.now.filter(|_| change.path == name)?;
        let fields = record::read(Some(text.as_bytes())).0;
        fields.is_ok_and(|fields| is_good(&fields)).then_some(text)
    }))
}
