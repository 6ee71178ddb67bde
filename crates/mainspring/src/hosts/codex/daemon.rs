//! In a terminal Codex runs hooks in a daemon, with the variables of whoever started that: is it
//! there, and what do hooks see in it?

use mainspring_platform::process;
use mainspring_store::atomic;
use serde::Deserialize;

use super::{Advice, SPEC};
use crate::env::Environment;
use crate::limits;

/// What decides whether and where we work, besides our own variables.
const OTHERS: [&str; 4] = [
    "HOME",
    "MAINSPRING_DISABLE",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
];

/// The daemon's record of itself.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Daemon {
    pid: u32,
    process_identity: DaemonRecord,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DaemonRecord {
    /// When it started, as Linux counts.
    start_ticks: u64,
}

pub(super) fn advice(env: &Environment) -> Advice {
    let fine = |what: String| Advice {
        about: "daemon",
        what,
        fix: None,
    };
    let daemon = find(env).filter(|one| process::exists(one.pid));
    let Some(daemon) = daemon else {
        return fine(
            "Codex's daemon does not run: the next `codex` in a terminal starts it, and hooks get \
             that terminal's variables, so that MAINSPRING_DISABLE=1 counts later only with \
             `codex --disable daemon_auto_start`"
                .into(),
        );
    };
    let is_it = process::started(daemon.pid) == Some(daemon.process_identity.start_ticks);
    let seen = process::variables(daemon.pid).filter(|_| is_it);
    let Some(seen) = seen else {
        return fine(
            "in a terminal, hooks run in Codex's daemon, with the variables of whoever started \
             it, which cannot be read here: MAINSPRING_DISABLE=1 counts only with `codex \
             --disable daemon_auto_start`"
                .into(),
        );
    };
    let pid = daemon.pid;
    let differences = differences(env, &seen);
    if differences.is_empty() {
        return fine(format!(
            "in a terminal, hooks run in Codex's daemon (process {pid}), with the same variables \
             as here"
        ));
    }
    Advice {
        about: "daemon",
        what: format!(
            "in a terminal, hooks run in Codex's daemon (process {pid}), with other variables than \
             here: {}",
            differences.join(", ")
        ),
        fix: Some(
            "codex app-server daemon stop    # the next `codex` starts it with your variables",
        ),
    }
}

fn find(env: &Environment) -> Option<Daemon> {
    let file = SPEC.own_folder(env)?.join("app-server-daemon/daemon.pid");
    let text = atomic::read_text(&file, limits::CONFIG).ok()??;
    serde_json::from_str(&text).ok()
}

/// The variables that count and that are not the same there and here, one text each.
fn differences(env: &Environment, seen: &[String]) -> Vec<String> {
    let there = |name: &str| {
        let mut values = seen.iter().filter_map(|one| one.split_once('='));
        values.find(|(found, _)| *found == name)
    };
    let ours = seen.iter().filter_map(|one| Some(one.split_once('=')?.0));
    let mut names: Vec<&str> = ours
        .filter(|name| name.starts_with("MAINSPRING_"))
        .collect();
    names.extend(OTHERS);
    names.sort_unstable();
    names.dedup();
    let differing = names.into_iter().filter_map(|name| {
        let (there, here) = (there(name).map(|(_, value)| value), env.var(name));
        let shown = |value: Option<&str>| match value {
            Some(value) => format!("{name}={value}"),
            None => format!("{name} is not set"),
        };
        let here = here.as_deref();
        (there != here).then(|| format!("{} ({} here)", shown(there), shown(here)))
    });
    differing.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hooks_see_in_the_daemon_is_compared_with_here() {
        let env = Environment::given(
            &[("HOME", "/home/me"), ("XDG_STATE_HOME", "/state")],
            mainspring_kernel::Millis(0),
        );
        let there = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            differences(&env, &texts)
        };
        let same = ["HOME=/home/me", "XDG_STATE_HOME=/state", "TERM=xterm"];
        assert_eq!(there(&same), Vec::<String>::new());
        assert_eq!(
            there(&["HOME=/home/me", "MAINSPRING_DISABLE=1"]),
            [
                "MAINSPRING_DISABLE=1 (MAINSPRING_DISABLE is not set here)",
                "XDG_STATE_HOME is not set (XDG_STATE_HOME=/state here)",
            ]
        );
    }
}
