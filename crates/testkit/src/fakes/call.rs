//! The arguments and stdin of a call of a fake, byte for byte.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// One call of one fake.
#[derive(Clone, Debug)]
pub struct Call {
    pub program: String,
    pub args: Vec<OsString>,
    pub env: Vec<(OsString, OsString)>,
    pub cwd: PathBuf,
    pub stdin: Stdin,
    pub rule: Played,
}

/// What was on stdin, and whether its end came.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum Stdin {
    Closed(Vec<u8>),
    LeftOpen,
}

/// Which rule was played.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum Played {
    Rule(usize),
    NoneFits,
}

impl Call {
    pub fn env(&self, name: &str) -> Option<&OsString> {
        let found = self.env.iter().find(|(held, _)| held == name);
        found.map(|(_, value)| value)
    }

    /// The arguments as text, for comparisons that read well.
    pub fn words(&self) -> Vec<String> {
        let word = |arg: &OsString| arg.to_string_lossy().into_owned();
        self.args.iter().map(word).collect()
    }
}

/// A call as it is stored: as bytes, because arguments need not be text.
#[derive(Deserialize, Serialize)]
pub(super) struct Line {
    pub(super) program: String,
    pub(super) args: Vec<Vec<u8>>,
    pub(super) env: Vec<(Vec<u8>, Vec<u8>)>,
    pub(super) cwd: Vec<u8>,
    pub(super) stdin: Stdin,
    pub(super) rule: Played,
}

impl From<Line> for Call {
    fn from(line: Line) -> Self {
        Self {
            program: line.program,
            args: line.args.into_iter().map(OsString::from_vec).collect(),
            env: line
                .env
                .into_iter()
                .map(|(name, value)| (OsString::from_vec(name), OsString::from_vec(value)))
                .collect(),
            cwd: OsString::from_vec(line.cwd).into(),
            stdin: line.stdin,
            rule: line.rule,
        }
    }
}

/// The calls stored so far.
pub(super) fn read(log: &Path) -> Vec<Call> {
    let text = fs::read_to_string(log).unwrap_or_default();
    lines(&text).map(Call::from).collect()
}

/// Stores a call. `complete` gets the calls before it, and no other fake stores one in between.
pub(super) fn append(log: &Path, complete: impl FnOnce(&[Line]) -> Line) -> io::Result<Played> {
    let mut file = File::options()
        .read(true)
        .append(true)
        .create(true)
        .open(log)?;
    file.lock()?;
    file.rewind()?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let before: Vec<Line> = lines(&text).collect();
    let line = complete(&before);
    let mut bytes = serde_json::to_vec(&line)?;
    bytes.push(b'\n');
    file.write_all(&bytes)?;
    Ok(line.rule)
}

fn lines(text: &str) -> impl Iterator<Item = Line> {
    text.lines()
        .map(|line| serde_json::from_str(line).expect("the log is ours"))
}
