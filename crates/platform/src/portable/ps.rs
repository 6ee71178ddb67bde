//! What `ps` reports. POSIX has no other way to ask about a process.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

/// A process that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) parent: u32,
    pub(super) group: u32,
    /// When it started: the seconds since 1970.
    pub(super) started: u64,
}

/// The named processes that have not ended.
pub(super) fn processes(which: Which) -> BTreeMap<u32, Process> {
    let columns = ["pid", "ppid", "pgid", "stat", "lstart"];
    let (ps, lines) = ask(which, &columns);
    let mut found: BTreeMap<u32, Process> = lines.lines().filter_map(process).collect();
    found.remove(&ps);
    found
}

/// One column about each of these processes, which may contain anything.
pub(super) fn texts(of: &[u32], column: &str) -> BTreeMap<u32, String> {
    let (_, lines) = ask(Which::These(of), &["pid", column]);
    let line = |line: &str| {
        let (pid, text) = line.trim_start().split_once(' ')?;
        Some((pid.parse().ok()?, text.trim().to_owned()))
    };
    lines.lines().filter_map(line).collect()
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Which<'a> {
    All,
    These(&'a [u32]),
}

/// The number of the `ps` that was asked, and what it said.
fn ask(which: Which, columns: &[&str]) -> (u32, String) {
    #[expect(
        clippy::disallowed_methods,
        reason = "a program of the system, which answers at once"
    )]
    let mut ps = Command::new("/bin/ps");
    ps.env_clear()
        .envs([("LC_ALL", "C"), ("TZ", "UTC0")])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .arg("-ww");
    match which {
        Which::All => ps.arg("-A"),
        Which::These(pids) => {
            let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
            ps.args(["-p", &pids.join(",")])
        }
    };
    // Each column has an option of its own: what follows an equals sign is a heading.
    for column in columns {
        ps.args(["-o", &format!("{column}=")]);
    }
    let Ok(child) = ps.spawn() else {
        return (0, String::new());
    };
    let pid = child.id();
    let output = child.wait_with_output().map(|output| output.stdout);
    let text = String::from_utf8_lossy(&output.unwrap_or_default()).into_owned();
    (pid, text)
}

/// `pid ppid pgid stat lstart`, for example `7 1 7 Ss Tue Nov 17 16:00:07 2026`.
fn process(line: &str) -> Option<(u32, Process)> {
    let mut words = line.split_whitespace();
    let mut number = || words.next()?.parse().ok();
    let (pid, parent, group) = (number()?, number()?, number()?);
    let state = words.next()?;
    if state.starts_with(['Z', 'X']) {
        return None;
    }
    let started = seconds(words)?;
    Some((
        pid,
        Process {
            parent,
            group,
            started,
        },
    ))
}

/// The seconds since 1970 of `Tue Nov 17 16:00:07 2026`.
fn seconds<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<u64> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let (_, month, day) = (words.next()?, words.next()?, words.next()?);
    let (clock, year) = (words.next()?, words.next()?);
    let month = MONTHS.find(month).filter(|_| month.len() == 3)? as u64 / 3;
    let mut clock = clock.split(':').map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let (day, year) = (day.parse::<u64>().ok()?, year.parse::<u64>().ok()?);
    // Years are counted from March on, so that the day of a leap year is the last one.
    let (year, month) = if month < 2 {
        (year.checked_sub(1)?, month + 10)
    } else {
        (year, month - 2)
    };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day;
    // The days from the year 0 to 1970.
    let days = days.checked_sub(719_469)?;
    Some(((days * 24 + hour) * 60 + minute) * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_ps_is_read() {
        let (pid, process) = process("  7     1     5 Ss   Tue Nov 17 16:00:07 2026").unwrap();
        assert_eq!(pid, 7);
        assert_eq!((process.parent, process.group), (1, 5));
        assert_eq!(process.started, 1_794_931_207);
        assert_eq!(super::process(" 7 1 7 Z  Tue Nov 17 16:00:07 2026"), None);
        assert_eq!(super::process("no such line"), None);
    }

    #[test]
    fn a_day_is_counted_from_1970() {
        for (text, expected) in [
            ("Thu Jan  1 00:00:00 1970", 0),
            ("Tue Feb 29 12:00:00 2000", 951_825_600),
            ("Wed Mar  1 00:00:00 2000", 951_868_800),
            ("Thu Dec 31 23:59:59 2099", 4_102_444_799),
        ] {
            assert_eq!(seconds(text.split_whitespace()), Some(expected), "{text}");
        }
        assert_eq!(seconds("Tue Nox 17 16:00:07 2026".split_whitespace()), None);
    }
}
