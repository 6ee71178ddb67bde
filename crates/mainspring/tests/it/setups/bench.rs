//! A complete set-up with stand-ins for every program outside of Mainspring, so that the doctor
//! has nothing to complain about until a test breaks something.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::env::{MAINSPRING, Ran, TestEnv, finish};

const HOOK: &str = env!("CARGO_BIN_EXE_mainspring-hook");

/// What the commands that fix something need.
const TOOLS: [&str; 16] = [
    "sh", "sed", "ln", "mkdir", "rm", "rmdir", "mv", "cp", "chmod", "cat", "touch", "id", "ls",
    "dirname", "git", "sleep",
];

pub(crate) struct Bench {
    pub(crate) env: TestEnv,
    vars: Vec<(String, String)>,
}

impl Bench {
    /// Programs, a home and a repository, without Mainspring.
    pub(crate) fn bare() -> Self {
        let env = TestEnv::new();
        let bench = Self {
            env,
            vars: Vec::new(),
        };
        fs::create_dir_all(bench.bin()).unwrap();
        for tool in TOOLS {
            let real = ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(tool));
            let real = real.into_iter().find(|path| path.exists());
            symlink(real.unwrap(), bench.bin().join(tool)).unwrap();
        }
        symlink(MAINSPRING, bench.bin().join("mainspring")).unwrap();
        symlink(HOOK, bench.bin().join("mainspring-hook")).unwrap();
        bench.claude("2.1.325");
        bench.gh("  - Token scopes: 'project', 'repo'");
        bench.program("sudo", "exec \"$@\"");
        let tools = bench.env.root().join("packages");
        fs::create_dir_all(&tools).unwrap();
        let install = format!(
            "cp -P {}/\"$3\" {}/\"$3\"",
            tools.display(),
            bench.bin().display()
        );
        bench.program("apt-get", &install);
        bench.program(
            "npm",
            &format!(
                "cp {}/claude {}/claude",
                tools.display(),
                bench.bin().display()
            ),
        );
        symlink("/usr/bin/git", tools.join("git")).unwrap();
        fs::copy(bench.bin().join("gh"), tools.join("gh")).unwrap();
        fs::copy(bench.bin().join("claude"), tools.join("claude")).unwrap();
        bench.shell("git init --quiet --initial-branch=main .").ok();
        bench
    }

    /// The same with Mainspring installed and the project trusted.
    pub(crate) fn installed() -> Self {
        let bench = Self::bare();
        bench.run(&["install", "--yes", "--trust"]).ok();
        bench
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.vars.push((name.into(), value.into()));
    }

    pub(crate) fn bin(&self) -> PathBuf {
        self.env.root().join("bin")
    }

    pub(crate) fn settings(&self) -> PathBuf {
        self.env.home().join(".claude/settings.json")
    }

    /// A stand-in for a program.
    pub(crate) fn program(&self, name: &str, script: &str) {
        let file = self.bin().join(name);
        let _ = fs::remove_file(&file);
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn claude(&self, version: &str) {
        self.program("claude", &format!("echo '{version} (Claude Code)'"));
    }

    pub(crate) fn gh(&self, said: &str) {
        self.program("gh", &format!("echo \"{said}\""));
    }

    pub(crate) fn remove(&self, program: &str) {
        fs::remove_file(self.bin().join(program)).unwrap();
    }

    /// What `$EDITOR` does to a file, as an expression for `sed`.
    pub(crate) fn editor(&mut self, expression: &str) {
        self.program("editor", &format!("sed -i -E '{expression}' \"$1\""));
        self.set("EDITOR", "editor");
    }

    /// Changes the user's settings.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Value)) {
        let text = fs::read_to_string(self.settings()).unwrap_or_else(|_| "{}".into());
        let mut settings: Value = serde_json::from_str(&text).unwrap();
        change(&mut settings);
        fs::create_dir_all(self.settings().parent().unwrap()).unwrap();
        let text = serde_json::to_string_pretty(&settings).unwrap();
        fs::write(self.settings(), text).unwrap();
    }

    /// Our plugin, as the client installs it. Returns its folder.
    pub(crate) fn plugin(&self) -> PathBuf {
        let home = self.env.home().join(".claude/plugins");
        let folder = home.join("cache/mainspring/mainspring/0.1.0");
        let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/mainspring");
        fs::create_dir_all(folder.parent().unwrap()).unwrap();
        let copy = format!("cp -r {} {}", ours.display(), folder.display());
        self.shell(&copy).ok();
        let list = json!({"version": 2, "plugins": {"mainspring@mainspring": [
            {"scope": "user", "installPath": folder, "version": "0.1.0"},
        ]}});
        fs::write(home.join("installed_plugins.json"), list.to_string()).unwrap();
        self.change(|settings| {
            settings["enabledPlugins"] = json!({"mainspring@mainspring": true});
        });
        folder
    }

    fn prepared(&self, mut command: Command) -> Command {
        let local = self.env.home().join(".local/bin");
        let path = format!("{}:{}", local.display(), self.bin().display());
        command
            .env_clear()
            .env("HOME", self.env.home())
            .env("TMPDIR", self.env.tmp())
            .env("PATH", path)
            .envs(self.vars.iter().map(|(name, value)| (name, value)))
            .current_dir(self.env.project());
        command
    }

    pub(crate) fn command(&self) -> Command {
        self.prepared(Command::new(MAINSPRING))
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        finish(self.command().args(args), b"")
    }

    pub(crate) fn shell(&self, line: &str) -> Ran {
        let mut command = self.prepared(Command::new("/bin/sh"));
        finish(command.args(["-c", line]), b"")
    }

    /// The doctor's findings that are not fine.
    pub(crate) fn findings(&self) -> Vec<Value> {
        let ran = self.run(&["doctor", "--json"]);
        let found: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
        let mut all = found["findings"].as_array().unwrap().clone();
        all.retain(|one| one["level"] != "fine");
        all
    }

    /// Runs what the doctor says to type, and the doctor again, in one shell.
    pub(crate) fn fixed(&self, findings: &[Value]) -> Ran {
        let fixes = findings.iter().map(|one| one["fix"].as_str().unwrap());
        let mut lines: Vec<String> = fixes.map(consented).collect();
        lines.dedup();
        lines.push(format!("exec {MAINSPRING} doctor"));
        self.shell(&lines.join(" || exit 9\n"))
    }
}

/// The command of somebody who says yes.
fn consented(fix: &str) -> String {
    ["install", "uninstall", "trust"]
        .iter()
        .fold(fix.to_owned(), |fix, verb| {
            let typed = format!("mainspring {verb}");
            let rest = |at: usize| fix[at + typed.len()..].to_owned();
            match fix.find(&typed) {
                Some(at) if !rest(at).starts_with(|c: char| c.is_alphanumeric()) => {
                    format!("{}{typed} --yes{}", &fix[..at], rest(at))
                }
                _ => fix,
            }
        })
}
