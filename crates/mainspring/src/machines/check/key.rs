//! The key of a check: a digest of its command and of everything that its result depends on.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mainspring_kernel::Digest;
use mainspring_platform::path;
use mainspring_platform::program::{find, is_path};
use mainspring_platform::stamp::{self, Stamp};
use mainspring_store::{ShownPath as _, digest, no_symlink};
use serde::{Deserialize, Serialize};

use crate::children::child_env::{self, is_path_variable};
use crate::config::checks::CheckDefinition;
use crate::hosts;
use crate::limits;
use crate::machines::tree::{self, Files, Tree, TreeContents};
use crate::people::trust::TrustedChecks;

/// Files that choose the version of a tool. They count for every check.
const TOOLCHAINS: [&str; 11] = [
    "rust-toolchain",
    "rust-toolchain.toml",
    ".tool-versions",
    "mise.toml",
    ".mise.toml",
    ".nvmrc",
    ".node-version",
    ".python-version",
    ".ruby-version",
    ".java-version",
    ".go-version",
];

/// What a key is made of, so that another machine can tell which part differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Parts {
    pub(crate) definition: String,
    pub(crate) pins: String,
    pub(crate) toolchain: String,
    pub(crate) environment: String,
    pub(crate) inputs: String,
}

impl Parts {
    pub(crate) fn key(&self) -> Digest {
        let all = [
            &self.definition,
            &self.pins,
            &self.toolchain,
            &self.environment,
            &self.inputs,
        ];
        let text = all.map(|part| format!("{part}\n")).concat();
        digest::of(&[text.as_bytes()])
    }
}

/// One check's key, and what was found on the way.
#[derive(Debug)]
pub(crate) struct TakenKey {
    pub(crate) parts: Parts,
    pub(crate) key: Digest,
    /// The inputs of this check and of those whose keys were taken with it.
    pub(super) contents: Arc<TreeContents>,
    /// When the other files of the project that it depends on were last written.
    beside: BTreeMap<String, Option<Stamp>>,
    /// The pinned files that are not as they were trusted.
    pub(crate) pins: Vec<String>,
    /// `None` if there is no such program.
    pub(crate) program: Option<PathBuf>,
    pub(crate) env: Vec<(OsString, OsString)>,
    /// The folder that the check runs in.
    pub(crate) dir: PathBuf,
}

impl TakenKey {
    /// Does the check depend on anything? A pattern with a typing error would stay green for ever.
    pub(super) fn has_inputs(&self, check: &CheckDefinition) -> bool {
        let is_input = |path: &[u8]| tree::is_input(&check.inputs, path);
        check.inputs.is_empty() || self.files().iter().any(|input| is_input(&input.path))
    }

    pub(super) fn files(&self) -> &Files {
        &self.contents.files
    }

    /// The files that were written, made or deleted between the two, whatever their content is.
    pub(super) fn moved(&self, after: &Self) -> Vec<String> {
        let mut names = tree::moved(self.files(), after.files());
        let beside = self.beside.iter();
        let beside = beside.filter(|(name, stamp)| after.beside.get(*name) != Some(stamp));
        names.extend(beside.map(|(name, _)| name.clone()));
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// Takes keys.
impl Tree {
    /// The keys of these checks. The tree is read once for all of them.
    pub(crate) fn keys(
        &self,
        checks: &TrustedChecks,
        wanted: &[&CheckDefinition],
    ) -> Result<Vec<TakenKey>, String> {
        // Without a check there is nothing to read, above all where nobody trusts the project.
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let inputs: Vec<&[String]> = wanted.iter().map(|one| one.inputs.as_slice()).collect();
        let all = Arc::new(self.read(&inputs)?);
        let toolchain = self.toolchain();
        let one = |check: &&CheckDefinition| self.one(checks, check, &all, &toolchain);
        wanted.iter().map(one).collect()
    }

    fn one(
        &self,
        checks: &TrustedChecks,
        check: &CheckDefinition,
        all: &Arc<TreeContents>,
        toolchain: &str,
    ) -> Result<TakenKey, String> {
        let is_input = |path: &[u8]| tree::is_input(&check.inputs, path);
        let files = all.files.iter().filter(|input| is_input(&input.path));
        let env = child_env::of_check(&self.env, &check.env, &hosts::variables());
        let program = self.program(&check.run[0], &env);
        let pins: Vec<(String, Option<Digest>)> = check
            .pins
            .iter()
            .map(|name| (name.clone(), content(&self.dir.join(name))))
            .collect();
        let parts = Parts {
            definition: definition(check),
            pins: digest::of(&[format!("{pins:?}").as_bytes()]).0,
            toolchain: self.own_program(&check.run[0], toolchain),
            environment: environment(&env, &check.env, program.as_deref())?,
            inputs: tree::digest_of(files, &all.rules),
        };
        let trusted = |(name, now): &(String, Option<Digest>)| {
            checks.pins.get(name).map(|pin| &pin.digest) == now.as_ref()
        };
        let changed = pins.iter().filter(|pin| !trusted(pin));
        Ok(TakenKey {
            key: parts.key(),
            parts,
            contents: all.clone(),
            beside: self.beside(check),
            pins: changed.map(|(name, _)| name.clone()).collect(),
            program,
            env,
            dir: self.dir.clone(),
        })
    }

    /// The program: a path from the tree's folder, or a name on the check's PATH.
    fn program(&self, word: &str, env: &[(OsString, OsString)]) -> Option<PathBuf> {
        if is_path(word) {
            let path = self.dir.join(word);
            return path.is_file().then_some(path);
        }
        let (_, folders) = env
            .iter()
            .find(|(variable, _)| is_path_variable(variable))?;
        find(folders, word)
    }

    fn beside(&self, check: &CheckDefinition) -> BTreeMap<String, Option<Stamp>> {
        let own = check.run.first().filter(|word| is_own(word));
        let pins = check.pins.iter().chain(own).map(String::as_str);
        pins.chain(TOOLCHAINS)
            .map(|name| {
                let stamp = stamp::of(&self.dir.join(name));
                (name.to_owned(), stamp.ok().flatten())
            })
            .collect()
    }

    fn toolchain(&self) -> String {
        let found = TOOLCHAINS.map(|name| (name, content(&self.dir.join(name))));
        let found: Vec<_> = found.iter().filter(|(_, there)| there.is_some()).collect();
        digest::of(&[format!("{found:?}").as_bytes()]).0
    }

    /// A program of the project's own counts by its content, wherever the inputs are.
    fn own_program(&self, word: &str, toolchain: &str) -> String {
        if !is_own(word) {
            return toolchain.to_owned();
        }
        let own = content(&self.dir.join(word));
        digest::of(&[toolchain.as_bytes(), format!("{own:?}").as_bytes()]).0
    }
}

/// Is this program one of the project's own files?
fn is_own(word: &str) -> bool {
    is_path(word) && !Path::new(word).is_absolute()
}

/// The definition, field by field.
fn definition(check: &CheckDefinition) -> String {
    let CheckDefinition {
        name,
        run,
        inputs,
        timeout,
        when,
        canary,
        pins,
        env,
        retries,
    } = check;
    let text = format!(
        "{name:?} {run:?} {inputs:?} {} {when:?} {canary:?} {pins:?} {env:?} {retries}",
        timeout.0
    );
    digest::of(&[text.as_bytes()]).0
}

/// The variables that count, and which program it is: another version of it has another size or
/// time.
fn environment(
    env: &[(OsString, OsString)],
    named: &[String],
    program: Option<&Path>,
) -> Result<String, String> {
    let mut text = Vec::new();
    let counts = |(variable, _): &&(OsString, OsString)| child_env::is_in_key(variable, named);
    for (variable, value) in env.iter().filter(counts) {
        for part in [
            variable.as_encoded_bytes(),
            b"=",
            value.as_encoded_bytes(),
            b"\0",
        ] {
            text.extend_from_slice(part);
        }
    }
    if let Some(program) = program {
        let real = path::real(program).unwrap_or_else(|_| program.to_owned());
        let stamp = stamp::of(&real);
        let stamp = stamp.map_err(|error| format!("cannot look at {}: {error}", real.shown()))?;
        let stamp = stamp.map(|stamp| (stamp.size, stamp.modified));
        text.extend_from_slice(format!("{} {stamp:?}", real.display()).as_bytes());
    }
    Ok(digest::of(&[&text]).0)
}

fn content(path: &Path) -> Option<Digest> {
    let bytes = no_symlink::read(path, limits::STATE_FILE).ok()??;
    Some(digest::of(&[&bytes]))
}
