//! Which of our variables a child gets. We list what a child needs and not what it must not
//! have, so a variable that nobody thought of is not passed on.

use std::ffi::{OsStr, OsString};

use mainspring_platform::folders::is_same_variable;
use mainspring_platform::program;

use crate::env::{Environment, name};

/// Names of variables. One star stands for any characters: `LC_*`, `XDG_*_HOME`.
pub(crate) type Names = &'static [&'static str];

/// The person, their language, their folders.
pub(crate) const PERSON: Names = &[
    "HOME",
    "PATH",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TERM",
    "TZ",
    "TMPDIR",
    "XDG_*_HOME",
    // The same on Windows, and what programs need there to start at all.
    "USERPROFILE",
    "USERNAME",
    "HOMEDRIVE",
    "HOMEPATH",
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMDATA",
    "PROGRAMFILES*",
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "WINDIR",
    "COMSPEC",
    "PATHEXT",
    "TEMP",
    "TMP",
];

/// How to reach the network, and which certificates to trust.
pub(crate) const NETWORK: Names = &[
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// What `gh` needs in addition: its tokens and settings, and the variables that lead to the
/// keyring.
pub(crate) const GH: Names = &[
    "GH_TOKEN",
    "GITHUB_TOKEN",
    "GH_ENTERPRISE_TOKEN",
    "GITHUB_ENTERPRISE_TOKEN",
    "GH_HOST",
    "GH_CONFIG_DIR",
    "GH_TELEMETRY",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
];

/// What a vendor's client needs in addition to `PERSON` and `NETWORK`.
#[derive(Debug)]
pub(crate) struct VendorEnv {
    /// What the names of most of its variables begin with.
    pub(crate) family: Names,
    pub(crate) always: Names,
    /// For each provider, the variable that selects it, and its credentials.
    pub(crate) providers: &'static [(&'static str, Names)],
}

impl VendorEnv {
    /// The client's own list, and the credentials of each provider that is selected.
    pub(crate) fn lists(&self, env: &Environment) -> Vec<Names> {
        let switched_on = self
            .providers
            .iter()
            .filter(|(switch, _)| is_on(env, switch))
            .map(|(_, names)| *names);
        [self.always].into_iter().chain(switched_on).collect()
    }

    /// Every name of the client's own, whoever its provider is, and the family of names that its
    /// host sets.
    pub(crate) fn all(&self) -> impl Iterator<Item = &'static str> {
        self.family.iter().chain(self.always).copied()
    }
}

/// The variables that are on one of the lists. `PATH` loses its relative entries, because in a
/// project they would find the project's programs.
pub(crate) fn listed(env: &Environment, lists: &[Names]) -> Vec<(OsString, OsString)> {
    let on_a_list = |variable: &OsStr| {
        let text = variable.to_str();
        text.is_some_and(|text| {
            lists
                .iter()
                .any(|list| list.iter().any(|one| fits(one, text)))
        })
    };
    let mut listed = env.vars();
    listed.retain(|(variable, _)| on_a_list(variable));
    for (variable, value) in &mut listed {
        if is_path_variable(variable) {
            *value = program::absolute_folders(value);
        }
    }
    listed
}

/// Variables that tell one terminal, login or directory from another: a check's key is the same in
/// each, unless the check names one.
const SURROUNDINGS: Names = &[
    "PWD",
    "OLDPWD",
    "SHLVL",
    "_",
    "WINDOWID",
    "TERM",
    "TERM_*",
    "COLORTERM",
    "COLUMNS",
    "LINES",
    "SSH_*",
    "XDG_SESSION_*",
    "XDG_SEAT*",
    "XDG_VTNR",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "DBUS_*",
    "TMUX*",
    "STY",
    "ITERM_*",
    "VSCODE_*",
    "KITTY_*",
    "WT_*",
    "WEZTERM_*",
    "ALACRITTY_*",
    "GNOME_*",
    "KONSOLE_*",
    "GPG_*",
    "LS_COLORS",
    "PS1",
    "PROMPT*",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "MAIL",
    "GIT_*",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR*",
    "OTEL_*",
    "AI_AGENT",
];

/// A variable whose name has one of these holds a secret, which may change every hour.
const SECRETS: &[&str] = &[
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "CREDENTIAL",
    "API_KEY",
    "APIKEY",
    "ACCESS_KEY",
    "PRIVATE_KEY",
    "PASSPHRASE",
    "AUTH",
];
/// And so does one whose name ends like this.
const SECRET_ENDS: &[&str] = &["_KEY", "_PAT", "_PASS", "_PW", "_DSN"];

/// Ours tell what runs a check, and would change what it tests.
const OURS: &str = "MAINSPRING_*";

/// What a check that a person trusted gets: the whole environment, but for what a host or we set
/// in it. A secret is the person's, also one that a host reads. Sorted, because most of it is a
/// part of the check's key.
pub(crate) fn of_check(
    env: &Environment,
    named: &[String],
    set_by_hosts: &[&str],
) -> Vec<(OsString, OsString)> {
    let is_named = |name: &str| named.iter().any(|one| one == name);
    let is_set_here = |variable: &OsStr| {
        let here = |text| fits(OURS, text) || set_by_hosts.iter().any(|name| fits(name, text));
        variable
            .to_str()
            .is_some_and(|text| here(text) && !is_secret(text) && !is_named(text))
    };
    let mut vars = env.vars();
    vars.retain(|(variable, _)| !is_set_here(variable));
    for (variable, value) in &mut vars {
        if is_path_variable(variable) {
            *value = program::absolute_folders(value);
        }
    }
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        if !is_named(name) {
            vars.retain(|(variable, _)| variable != name);
            vars.push((name.into(), value.into()));
        }
    }
    vars.sort();
    vars
}

/// Is this variable a part of the key of a check that names these?
pub(crate) fn is_in_key(variable: &OsStr, named: &[String]) -> bool {
    let Some(text) = variable.to_str() else {
        return true;
    };
    let is_surrounding = SURROUNDINGS.iter().any(|name| fits(name, text));
    named.iter().any(|name| name == text) || !(is_secret(text) || is_surrounding)
}

fn is_secret(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    SECRETS.iter().any(|word| upper.contains(word))
        || SECRET_ENDS.iter().any(|end| upper.ends_with(end))
}

fn is_on(env: &Environment, switch: &str) -> bool {
    let off = |value: &str| matches!(value, "0" | "false" | "no" | "off");
    env.var(switch)
        .is_some_and(|value| !off(&value.to_ascii_lowercase()))
}

fn fits(pattern: &str, variable: &str) -> bool {
    match pattern.split_once('*') {
        None => is_same_variable(pattern, variable),
        Some((start, end)) => {
            let begins = variable.get(..start.len());
            let rest = variable.len().checked_sub(end.len());
            let ends = rest.filter(|at| *at >= start.len());
            let ends = ends.and_then(|at| variable.get(at..));
            begins.is_some_and(|begins| is_same_variable(begins, start))
                && ends.is_some_and(|ends| is_same_variable(ends, end))
        }
    }
}

/// Is this the variable with the folders of programs?
pub(crate) fn is_path_variable(variable: &OsStr) -> bool {
    variable
        .to_str()
        .is_some_and(|variable| is_same_variable(variable, name::PATH))
}

#[cfg(test)]
mod tests {
    use mainspring_kernel::Millis;

    use super::*;

    fn names(env: &Environment, lists: &[Names]) -> Vec<String> {
        listed(env, lists)
            .into_iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect()
    }

    #[test]
    fn a_check_gets_everything_and_no_secret_that_it_does_not_name_is_in_its_key() {
        let secrets = [
            "AWS_SECRET_ACCESS_KEY",
            "AWS_ACCESS_KEY_ID",
            "NPM_TOKEN",
            "GITHUB_PAT",
            "github_pat",
            "STRIPE_KEY",
            "SENTRY_DSN",
            "DB_PASS",
            "GPG_PASSPHRASE",
            "SSH_AUTH_SOCK",
        ];
        let mut vars: Vec<(&str, &str)> = secrets.map(|name| (name, "x")).into();
        vars.extend([("CARGO_HOME", "/c"), ("KEYBOARD", "us"), ("PATTERN", "p")]);
        vars.extend([("PWD", "/p"), ("TERM", "xterm"), ("HOST_SESSION", "s")]);
        vars.push(("MAINSPRING_DISABLE", "0"));
        let env = Environment::given(&vars, Millis(0));
        let passed = |named: &[String]| -> Vec<String> {
            let vars = of_check(&env, named, &["HOST_*"]).into_iter();
            vars.map(|(name, _)| name.into_string().unwrap()).collect()
        };
        let in_key = |named: &[String]| -> Vec<String> {
            let names = passed(named).into_iter();
            names
                .filter(|name| is_in_key(OsStr::new(name), named))
                .collect()
        };
        let plain = ["CARGO_HOME", "KEYBOARD", "PATTERN"];
        let all = passed(&[]);
        for name in secrets.iter().chain(&plain).chain(&["PWD", "NO_COLOR"]) {
            assert!(all.iter().any(|one| one == name), "{name}: {all:?}");
        }
        assert_eq!(all.len(), secrets.len() + plain.len() + 3, "{all:?}");
        assert_eq!(in_key(&[]), plain);
        assert!(in_key(&["STRIPE_KEY".into()]).contains(&"STRIPE_KEY".to_owned()));
        assert!(passed(&["HOST_SESSION".into()]).contains(&"HOST_SESSION".to_owned()));
    }

    #[test]
    fn only_what_is_on_the_list_is_passed_on() {
        let vars = [
            ("HOME", "/h"),
            ("LC_TIME", "C"),
            ("LC", "no"),
            ("XDG_DATA_HOME", "/d"),
            ("XDG_HOME", "no"),
            ("XDG_RUNTIME_DIR", "no"),
            ("NPM_TOKEN", "no"),
            ("HOMEPAGE", "no"),
            ("EMPTY", ""),
            ("TZ", ""),
            ("PATH", "/a::./b:c:/d"),
        ];
        let env = Environment::given(&vars, Millis(0));
        assert_eq!(
            names(&env, &[PERSON]),
            [
                "HOME=/h",
                "LC_TIME=C",
                "PATH=/a:/d",
                "TZ=",
                "XDG_DATA_HOME=/d"
            ]
        );
        assert!(names(&env, &[]).is_empty());
    }

    #[test]
    fn a_providers_credentials_are_behind_its_switch() {
        const VENDOR: VendorEnv = VendorEnv {
            family: &[],
            always: &["KEY"],
            providers: &[("USE_CLOUD", &["CLOUD_*"])],
        };
        for (switch, passed) in [("1", 2), ("true", 2), ("0", 1), ("False", 1), ("", 1)] {
            let vars = [("KEY", "k"), ("CLOUD_SECRET", "s"), ("USE_CLOUD", switch)];
            let env = Environment::given(&vars, Millis(0));
            let lists = VENDOR.lists(&env);
            assert_eq!(names(&env, &lists).len(), passed, "{switch:?}");
        }
    }
}
