//! `mainspring claim repair`: mend a claim file that cannot be read.

use mainspring_kernel::Name;
use mainspring_kernel::machines::claim::State;
use mainspring_kernel::machines::claim::verbs::Refused;
use mainspring_store::{ShownPath as _, Trouble, atomic, path_text};

use super::{CommandContext, Result};
use crate::limits;
use crate::machines::claim::{self, file};
use crate::show::journal_cursor::Shown;
use crate::show::records;
use crate::store::aside_path;

/// Mend a claim file that cannot be read: put back what the journal has, and keep the broken file
/// beside it.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(_: &Args, cmd: &CommandContext) -> Result {
    let context = cmd.context()?;
    let place = claim::place(&context);
    let path = place.join(file::NAME);
    match claim::state_at(&context, &place) {
        Ok((State::Unclaimed(_), _)) => return Err(Refused::NoClaim.into()),
        Ok((State::Newer { version }, _)) => return Err(Refused::Newer(version).into()),
        Ok((State::Claimed { claim, .. }, _)) => {
            return Ok(format!(
                "{} can be read: issue #{}, phase {}\n",
                path.shown(),
                claim.issue_number,
                claim.phase.as_str()
            ));
        }
        Err(Trouble::Corrupt { .. }) => {}
        Err(other) => return Err(other.into()),
    }
    let known = last_known(&context.store, &path)?;
    let mut kept = String::new();
    let did = cmd.commit(Name::Claim, "claim repair", |_| {
        let bytes = atomic::read(&path, limits::STATE_FILE)?.unwrap_or_default();
        let aside = aside_path(&path, &bytes);
        kept.clone_from(&aside.shown());
        let broken = String::from_utf8_lossy(&bytes).into_owned();
        let files = vec![
            atomic::change(&aside, None, Some(broken)),
            atomic::change(&path, Some(&bytes), known.clone()),
        ];
        let did = match &known {
            Some(_) => "the claim file is as the journal has it",
            None => "the journal has no claim file, so the broken one was put aside",
        };
        Ok((files, did.to_owned()))
    })?;
    let next = match known {
        Some(_) => "`mainspring claim status` shows it",
        None => "`mainspring claim N` claims the issue again",
    };
    Ok(format!(
        "{did}\nthe broken file is kept as {kept}\n{next}\n"
    ))
}

/// The last content of the file that a record has and that can be read.
fn last_known(
    store: &crate::store::ProjectStore,
    path: &std::path::Path,
) -> Result<Option<String>> {
    let name = path_text::to_text(path);
    let records = records::all(store.dir()).unwrap_or_default();
    let mut contents = records.into_iter().rev().flat_map(|line| match line {
        Shown::Record(record) => record.files,
        Shown::Problem(_) => Vec::new(),
    });
    let last = contents.find_map(|change| {
        let text = change.now.filter(|_| change.path == name)?;
        let reads = matches!(file::read(text.as_bytes()), Ok(file::Read::Signal(_)));
        reads.then_some(text)
    });
    Ok(last)
}
