//! Finds lines that may be a signal, and parses the Markdown only if there are any.

use std::borrow::Cow;
use std::ops::Range;

use super::markdown::{Surroundings, settings};
use super::near_miss::{Flaw, NearMiss, is_emphasis};

/// One whole line that an agent may say, and the start of the same line with another id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signal {
    line: String,
    stem: String,
    margin: Margin,
}

/// Where on its line a signal may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Margin {
    /// After any space.
    Free,
    /// At the first character.
    Strict,
}

impl Signal {
    /// `TASKMASTER_DONE::<session>`.
    pub fn token(prefix: &str, id: &str) -> Self {
        let stem = format!("{}::", prefix.trim());
        Self {
            line: format!("{stem}{}", id.trim()),
            stem,
            margin: Margin::Free,
        }
    }

    /// `<loop-done>COMPLETE</loop-done>`.
    pub fn element(name: &str, value: &str) -> Self {
        let stem = format!("<{name}>");
        Self {
            line: format!("{stem}{value}</{name}>"),
            stem,
            margin: Margin::Free,
        }
    }

    /// The same, but it counts only without space before it, as in a public script.
    #[must_use]
    pub(crate) fn at_margin(self) -> Self {
        Self {
            margin: Margin::Strict,
            ..self
        }
    }

    /// The line that the agent has to say.
    pub fn line(&self) -> &str {
        &self.line
    }
}

/// What a text says about the wanted signals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sighting {
    Said {
        /// The index of the signal.
        signal: usize,
        /// Counted from 1.
        line: u32,
    },
    NearMiss(NearMiss),
    Absent,
}

/// Looks for the signals in one text. The last one counts, because a later statement of the
/// agent corrects an earlier one. If there is none, the last near miss is returned.
pub fn find(text: &str, signals: &[Signal]) -> Sighting {
    let text = with_unix_lines(text);
    let candidates = candidates(&text, signals);
    let spans: Vec<_> = candidates
        .iter()
        .map(|candidate| candidate.span.clone())
        .collect();
    // Parsing costs over ten times as much as the search, and most texts have no signal.
    let settings = if spans.is_empty() {
        Vec::new()
    } else {
        settings(&text, &spans)
    };

    let mut latest = None;
    for (candidate, setting) in candidates.iter().zip(settings).rev() {
        match candidate.judge(&text, setting, &signals[candidate.signal]) {
            None => {
                return Sighting::Said {
                    signal: candidate.signal,
                    line: candidate.line,
                };
            }
            Some(flaw) => {
                latest = latest.or(Some(NearMiss {
                    flaw,
                    line: candidate.line,
                }));
            }
        }
    }
    latest
        .or_else(|| altered(&text, signals))
        .map_or(Sighting::Absent, Sighting::NearMiss)
}

/// Looks for the signals in several texts, oldest first. Each is parsed by itself: an open
/// fence in one text does not affect the next, and a signal that is split between two texts
/// does not count.
pub fn find_last<'t>(
    texts: impl IntoIterator<Item = &'t str, IntoIter: DoubleEndedIterator>,
    signals: &[Signal],
) -> Sighting {
    let mut latest = Sighting::Absent;
    for text in texts.into_iter().rev() {
        match (find(text, signals), latest) {
            (said @ Sighting::Said { .. }, _) => return said,
            (near @ Sighting::NearMiss(_), Sighting::Absent) => latest = near,
            (Sighting::NearMiss(_) | Sighting::Absent, _) => {}
        }
    }
    latest
}

struct Candidate {
    line: u32,
    span: Range<usize>,
    signal: usize,
    likeness: Likeness,
}

/// How similar a line is to the signal, in ascending order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    OtherId,
    Part,
    Whole,
}

impl Candidate {
    /// Why it does not count; `None` if it does.
    fn judge(&self, text: &str, setting: Surroundings, signal: &Signal) -> Option<Flaw> {
        match (self.likeness, setting) {
            (Likeness::OtherId, _) => {
                let altered = Flaw::of_alteration(&text[self.span.clone()], &signal.line);
                Some(altered.unwrap_or(Flaw::OtherId))
            }
            (_, Surroundings::CodeFence) => Some(Flaw::CodeFence),
            (_, Surroundings::IndentedCode) => Some(Flaw::IndentedCode),
            (_, Surroundings::InlineCode) => Some(Flaw::InlineCode),
            (_, Surroundings::HtmlComment) => Some(Flaw::HtmlComment),
            (Likeness::Whole, Surroundings::Open) => None,
            (Likeness::Part, Surroundings::Open) => {
                let (before, after) = text.split_at(self.span.start);
                let before = before.rsplit('\n').next().unwrap_or_default();
                let after = &after[self.span.len()..];
                let after = after.split('\n').next().unwrap_or_default();
                Some(Flaw::of_company(before, after))
            }
        }
    }
}

fn candidates(text: &str, signals: &[Signal]) -> Vec<Candidate> {
    if !signals.iter().any(|signal| text.contains(&signal.stem)) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (number, offset, line) in lines(text) {
        let best = signals
            .iter()
            .enumerate()
            .filter_map(|(index, signal)| Some((compare(line, signal)?, index)))
            .max_by_key(|((likeness, _), _)| *likeness);
        if let Some(((likeness, within), signal)) = best {
            let span = offset + within.start..offset + within.end;
            found.push(Candidate {
                line: number,
                span,
                signal,
                likeness,
            });
        }
    }
    found
}

/// How similar a line is to the signal, and which part of the line is.
fn compare(line: &str, signal: &Signal) -> Option<(Likeness, Range<usize>)> {
    if !line.contains(&signal.stem) {
        return None;
    }
    let trimmed = line.trim();
    let start = line.len() - line.trim_start().len();
    let whole = start..start + trimmed.len();
    if trimmed == signal.line && (start == 0 || signal.margin == Margin::Free) {
        return Some((Likeness::Whole, whole));
    }
    let ends_there = |end: usize| {
        !line[end..].starts_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_'))
    };
    let part = line
        .rmatch_indices(&signal.line)
        .map(|(at, hit)| at..at + hit.len())
        .find(|hit| {
            let (before, after) = (line[..hit.start].trim(), line[hit.end..].trim());
            ends_there(hit.end) || is_emphasis(before, after)
        });
    if let Some(part) = part {
        return Some((Likeness::Part, part));
    }
    let other = trimmed.strip_prefix(&signal.stem)?;
    (!other.contains(char::is_whitespace)).then_some((Likeness::OtherId, whole))
}

/// Finds a line that would be the signal without space and invisible characters, or in another
/// case.
fn altered(text: &str, signals: &[Signal]) -> Option<NearMiss> {
    let flaw = |line: &str| {
        signals
            .iter()
            .find_map(|signal| Flaw::of_alteration(line, &signal.line))
    };
    lines(text)
        .filter_map(|(line, _, text)| flaw(text).map(|flaw| NearMiss { flaw, line }))
        .last()
}

/// Each line's number, its offset and its text.
fn lines(text: &str) -> impl Iterator<Item = (u32, usize, &str)> {
    let mut offset = 0;
    (1..).zip(text.split('\n')).map(move |(number, line)| {
        let start = offset;
        offset += line.len() + 1;
        (number, start, line)
    })
}

/// `CommonMark` ends a line at LF, CR LF or CR; this converts all of them to LF.
fn with_unix_lines(text: &str) -> Cow<'_, str> {
    if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    }
}
