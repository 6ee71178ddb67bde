//! A repository whose configuration runs programs: none of our git commands runs them. An
//! ordinary git command springs each trap first, which proves that the trap works.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::claim::world::{World, untrusted};
use crate::env::{TestEnv, finish};

/// The signature of a commit, by the program that would check it.
const SIGNATURES: [(&str, &str); 3] = [
    ("gpg.program", "PGP SIGNATURE"),
    ("gpg.ssh.program", "SSH SIGNATURE"),
    ("gpg.x509.program", "SIGNED MESSAGE"),
];

/// A checkout with a plan in its history, and a program that leaves a mark.
struct Trapped {
    env: TestEnv,
    mark: PathBuf,
    trap: PathBuf,
}

impl Trapped {
    fn new() -> Self {
        let env = TestEnv::new();
        let mark = env.root().join("mark");
        let trap = env.root().join("trap");
        executable(&trap, &marking(&mark));
        let trapped = Self { env, mark, trap };
        let plan = trapped.env.project().join(".taskie/plans/demo/plan.md");
        fs::create_dir_all(plan.parent().unwrap()).unwrap();
        trapped.git(&["init", "--quiet", "--initial-branch=main"]);
        trapped.git(&["config", "user.name", "mallory"]);
        trapped.git(&["config", "user.email", "mallory@example.com"]);
        for text in ["# Plan\n", "# Plan\n\n## Overview\n"] {
            fs::write(&plan, text).unwrap();
            trapped.git(&["add", "."]);
            trapped.git(&["commit", "--quiet", "-m", "The plan"]);
        }
        trapped
    }

    fn git(&self, args: &[&str]) -> String {
        let output = self.command(args, b"");
        assert!(output.status.success(), "git {args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim_end().into()
    }

    /// An ordinary git command, which may fail.
    fn command(&self, args: &[&str], stdin: &[u8]) -> std::process::Output {
        let mut child = Command::new("git")
            .args(args)
            .current_dir(self.env.project())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.env.home())
            .env("GIT_TERMINAL_PROMPT", "0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // It may exit without reading it.
        let _ = child.stdin.take().unwrap().write_all(stdin);
        child.wait_with_output().unwrap()
    }

    fn set(&self, settings: &[(&str, &str)]) {
        let trap = self.trap.to_string_lossy();
        for (name, value) in settings {
            let trapped = |text: &str| text.replace("TRAP", &trap);
            self.git(&["config", &trapped(name), &trapped(value)]);
        }
    }

    fn is_sprung(&self) -> bool {
        fs::remove_file(&self.mark).is_ok()
    }

    /// Signs the last commit, so that there is a signature to check.
    fn sign(&self, kind: &str) {
        let tree = self.git(&["rev-parse", "HEAD^{tree}"]);
        let parent = self.git(&["rev-parse", "HEAD^"]);
        let who = "mallory <mallory@example.com> 1700000000 +0000";
        let commit = format!(
            "tree {tree}\nparent {parent}\nauthor {who}\ncommitter {who}\n\
             gpgsig -----BEGIN {kind}-----\n \n AAAA\n -----END {kind}-----\n\nSigned\n"
        );
        let args = ["hash-object", "-t", "commit", "-w", "--stdin"];
        let output = self.command(&args, commit.as_bytes());
        let commit = String::from_utf8(output.stdout).unwrap();
        self.git(&["reset", "--quiet", "--hard", commit.trim()]);
    }

    /// Runs our commands that ask git about the repository.
    fn ask_ours(&self) -> String {
        self.env.run(&["plan", "route"]).ok()
    }
}

fn marking(mark: &Path) -> String {
    format!("#!/bin/sh\necho \"$0 $*\" >> {}\n", mark.display())
}

fn executable(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// What is set in `.git/config`, and an ordinary command that springs the trap.
type Trap = (
    &'static [(&'static str, &'static str)],
    &'static [&'static str],
);

const TRAPS: [Trap; 19] = [
    (&[("core.fsmonitor", "TRAP")], &["status"]),
    (&[("core.sshCommand", "TRAP")], &["ls-remote", "ssh://h/x"]),
    (&[("core.gitProxy", "TRAP")], &["ls-remote", "git://h/x"]),
    (&[("core.editor", "TRAP")], &["commit", "--amend"]),
    (&[("sequence.editor", "TRAP")], &["rebase", "-i", "--root"]),
    (&[("core.askPass", "TRAP")], &["credential", "fill"]),
    (&[("credential.helper", "!TRAP")], &["credential", "fill"]),
    (
        &[("credential.https://h.helper", "!TRAP")],
        &["credential", "fill"],
    ),
    (&[("diff.external", "TRAP")], &["diff", "HEAD^"]),
    (&[("diff.x.command", "TRAP")], &["diff", "HEAD^"]),
    (&[("diff.x.textconv", "TRAP")], &["log", "-p"]),
    (
        &[("filter.x.clean", "TRAP")],
        &["add", "--renormalize", "."],
    ),
    (
        &[("filter.x.process", "TRAP")],
        &["add", "--renormalize", "."],
    ),
    (&[("alias.lg", "!TRAP"), ("alias.log", "!TRAP")], &["lg"]),
    (
        &[
            ("remote.origin.url", "https://github.com/acme/widgets"),
            ("protocol.ext.allow", "always"),
            ("url.ext::TRAP .insteadOf", "https://github.com/"),
        ],
        &["ls-remote", "origin"],
    ),
    (
        &[
            ("remote.origin.url", "."),
            ("remote.origin.uploadpack", "TRAP"),
        ],
        &["ls-remote", "origin"],
    ),
    (
        &[
            ("remote.origin.url", "."),
            ("remote.origin.receivepack", "TRAP"),
        ],
        &["push", "origin", "HEAD:refs/x"],
    ),
    (
        &[("commit.gpgSign", "true"), ("gpg.program", "TRAP")],
        &["commit", "--allow-empty", "-m", "x"],
    ),
    (
        &[("tag.gpgSign", "true"), ("gpg.program", "TRAP")],
        &["tag", "-m", "x", "t"],
    ),
];

#[test]
fn no_program_that_a_repository_configures_is_run_by_a_look() {
    for (settings, springs) in TRAPS {
        let trapped = Trapped::new();
        let attributes = trapped.env.project().join(".git/info/attributes");
        fs::create_dir_all(attributes.parent().unwrap()).unwrap();
        fs::write(attributes, "* filter=x diff=x merge=x\n").unwrap();
        trapped.set(settings);
        trapped.command(springs, b"protocol=https\nhost=h\n\n");
        assert!(trapped.is_sprung(), "{settings:?}: it springs for others");
        let said = trapped.ask_ours();
        assert!(!trapped.is_sprung(), "{settings:?}");
        assert!(said.contains("The plan"), "{settings:?}: {said}");
    }
}

#[test]
fn no_program_that_checks_signatures_is_run_by_a_look() {
    for (program, kind) in SIGNATURES {
        let trapped = Trapped::new();
        trapped.sign(kind);
        trapped.set(&[
            ("log.showSignature", "true"),
            (program, "TRAP"),
            ("gpg.ssh.allowedSignersFile", "/dev/null"),
        ]);
        trapped.command(&["log"], b"");
        assert!(trapped.is_sprung(), "{program}: it springs for others");
        let said = trapped.ask_ours();
        assert!(!trapped.is_sprung(), "{program}");
        assert!(said.contains("Signed"), "{program}: {said}");
    }
}

/// An unpacked archive may bring a `.git` whose filters are programs.
#[test]
fn no_filter_of_the_repository_runs_at_a_checkout_that_nobody_trusted() {
    let receipt = r#"{"v":1,"mainspring":"","system":"","checks":[]}"#;
    for filter in ["x", "a=b"] {
        let trapped = Trapped::new();
        let attributes = format!("* filter={filter}\n");
        fs::write(trapped.env.project().join(".gitattributes"), attributes).unwrap();
        trapped.git(&["add", "."]);
        trapped.git(&["commit", "--quiet", "-m", "A filter"]);
        for field in ["clean", "smudge", "process"] {
            let name = format!("filter.{filter}.{field}");
            trapped.set(&[(&name, "TRAP")]);
        }
        trapped.set(&[(&format!("filter.{filter}.required"), "true")]);
        let place = trapped.env.root().join("place");
        let place = place.to_str().unwrap();
        trapped.command(&["worktree", "add", "--detach", place], b"");
        assert!(trapped.is_sprung(), "the trap works");
        let ran = finish(
            trapped.env.command().args(["check", "verify"]),
            receipt.as_bytes(),
        );
        assert!(ran.stdout.contains("does not match"), "{ran:?}");
        assert!(!trapped.is_sprung(), "{filter}: {ran:?}");
        // Trusted, it runs as if the person had typed the command.
        trapped.env.trust();
        let _ = finish(
            trapped.env.command().args(["check", "verify"]),
            receipt.as_bytes(),
        );
        assert!(trapped.is_sprung());
    }
}

#[test]
fn no_hook_is_run_by_a_look() {
    for place in ["elsewhere", ".git/hooks"] {
        let trapped = Trapped::new();
        let hooks = trapped.env.project().join(place);
        for hook in ["post-index-change", "reference-transaction", "pre-commit"] {
            executable(&hooks.join(hook), &marking(&trapped.mark));
        }
        trapped.set(&[("core.hooksPath", &hooks.to_string_lossy())]);
        trapped.command(&["add", "."], b"");
        assert!(trapped.is_sprung(), "{place}: it springs for others");
        assert!(trapped.ask_ours().contains("The plan"));
        assert!(!trapped.is_sprung(), "{place}");
    }
}

/// A repository whose server still has an object: to look at the history would fetch it, and
/// run whatever program the repository names for its server.
#[test]
fn a_look_fetches_nothing() {
    let trapped = Trapped::new();
    let tree = trapped.git(&["rev-parse", "HEAD^^{tree}"]);
    let (folder, name) = tree.split_at(2);
    let object = trapped.env.project().join(".git/objects").join(folder);
    fs::remove_file(object.join(name)).unwrap();
    trapped.set(&[
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", "."),
        ("remote.origin.uploadpack", "TRAP"),
    ]);
    trapped.command(&["log", "--", ".taskie/plans/demo"], b"");
    assert!(trapped.is_sprung(), "it springs for others");
    trapped.ask_ours();
    assert!(!trapped.is_sprung());
}

#[test]
fn no_program_of_the_project_is_taken_for_git() {
    let trapped = Trapped::new();
    let project = trapped.env.project();
    for program in ["git", "bin/git", "sh", "ssh", "less"] {
        executable(&project.join(program), &marking(&trapped.mark));
    }
    for path in [".:/usr/bin:/bin", "bin:/usr/bin:/bin", ":/usr/bin:/bin"] {
        let mut command = trapped.env.command();
        command.args(["plan", "route"]).env("PATH", path);
        let said = crate::env::finish(&mut command, b"").ok();
        assert!(!trapped.is_sprung(), "{path}");
        assert!(said.contains("The plan"), "{path}: {said}");
    }
}

/// The server of `world`, reached by an `ssh` of the person's; the repository names another
/// one.
fn by_ssh(world: &World) -> (PathBuf, PathBuf) {
    let root = world.env.root();
    let mark = root.join("mark");
    executable(&root.join("trap"), &marking(&mark));
    // The last argument is `git-upload-pack '/acme/widgets.git'`.
    let served = world.bare.git_dir();
    let script = format!(
        "#!/bin/sh\necho ssh >> {root}/by-ssh\nfor word in \"$@\"; do :; done\n\
         exec ${{word%% *}} {served}\n",
        root = root.display(),
        served = served.display()
    );
    executable(&root.join("bin/ssh"), &script);
    world.git(&[
        "config",
        "remote.origin.url",
        "ssh://git@github.com/acme/widgets.git",
    ]);
    let trap = root.join("trap").display().to_string();
    world.git(&["config", "core.sshCommand", &trap]);
    (mark, root.join("by-ssh"))
}

#[test]
fn a_repositorys_transport_is_used_where_a_person_trusted_it_and_nowhere_else() {
    let claim = |world: &World| {
        let mut command = world.env.command();
        let path = world.path();
        let bin = world.env.root().join("bin");
        command.env("PATH", format!("{}:{path}", bin.display()));
        crate::env::finish(command.args(["claim", "42"]), b"")
    };
    let Some(world) = untrusted() else { return };
    let (mark, by_ssh_of_person) = by_ssh(&world);
    let said = claim(&world).ok();
    assert!(said.contains("claimed issue #42"), "{said}");
    assert!(by_ssh_of_person.exists(), "the person's own ssh was used");
    assert!(!mark.exists(), "the repository's was not");

    let Some(world) = untrusted() else { return };
    let (mark, by_ssh_of_person) = by_ssh(&world);
    world.env.trust();
    let _ = claim(&world);
    assert!(mark.exists() && !by_ssh_of_person.exists());
}

/// This holds even in a trusted project: no address of a server is a program.
#[test]
fn an_address_that_is_rewritten_to_a_program_is_refused() {
    let Some(world) = untrusted() else { return };
    world.env.trust();
    let mark = world.env.root().join("mark");
    let trap = world.env.root().join("trap");
    executable(&trap, &marking(&mark));
    let rewrite = format!("url.ext::{} .insteadOf", trap.display());
    for (name, value) in [
        ("remote.origin.url", "https://github.com/acme/widgets"),
        ("protocol.ext.allow", "always"),
        (&rewrite, "https://github.com/"),
    ] {
        world.git(&["config", name, value]);
    }
    let said = world.env.run(&["claim", "42"]).failed();
    assert!(said.contains("transport 'ext' not allowed"), "{said}");
    assert!(!mark.exists());
}

/// A pre-push hook that needs the person's environment, like those of large file stores and
/// test runners.
#[test]
fn a_push_in_a_persons_own_name_runs_the_hooks_of_a_trusted_project_in_their_environment() {
    for (is_trusted, expected) in [(true, "of-the-person\n"), (false, "")] {
        let Some(world) = untrusted() else { return };
        if is_trusted {
            world.env.trust();
        }
        world.work();
        world.write("coding");
        let seen = world.env.root().join("seen");
        let script = format!("#!/bin/sh\necho $MY_TOOL >> {}\n", seen.display());
        executable(&world.env.project().join(".git/hooks/pre-push"), &script);
        let mut command = world.env.command();
        command
            .args(["handoff", "--summary", "Fix it", "--push"])
            .env("MY_TOOL", "of-the-person")
            .env("GIT_DIR", "/nonexistent");
        crate::env::finish(&mut command, b"").ok();
        let seen = fs::read_to_string(seen).unwrap_or_default();
        assert_eq!(seen, expected, "trusted: {is_trusted}");
    }
}

/// The repository may choose the remote's name.
#[test]
fn a_remote_is_a_name_and_no_program() {
    let Some(world) = untrusted() else { return };
    world.env.trust();
    world.work();
    world.write("coding");
    let mark = world.env.root().join("mark");
    let trap = world.env.root().join("trap");
    executable(&trap, &marking(&mark));
    for remote in [
        format!("--receive-pack={}", trap.display()),
        format!("ext::{}", trap.display()),
    ] {
        let file = world.env.project().join("mainspring.toml");
        fs::write(file, format!("[claim]\nremote = '{remote}'\n")).unwrap();
        world.env.trust();
        let ran = world.env.run(&["handoff", "--summary", "Fix it", "--push"]);
        assert!(ran.failed().contains("is not the name of a remote"));
        assert!(!mark.exists(), "{remote}");
    }
}

/// If git were started elsewhere, that place would need the same protections.
#[test]
fn git_commands_are_made_in_one_place() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut children = Vec::new();
    for (path, bytes) in super::tree(&sources) {
        if path.file_stem().is_some_and(|name| name == "tests") {
            continue;
        }
        let text = String::from_utf8_lossy(&bytes);
        let product = text.split("#[cfg(test)]").next().unwrap();
        let name = path
            .strip_prefix(&sources)
            .unwrap()
            .to_string_lossy()
            .into_owned();
        if product.contains("Job::new(") {
            children.push(name.clone());
        }
        let names_git = product.contains("\"git\"") || product.contains("\"claim.git\"");
        let may = ["git.rs", "machines/claim/settings.rs"].contains(&name.as_str());
        assert!(!names_git || may, "{name} names the program git");
    }
    let known = [
        "git.rs",
        "machines/claim/programs.rs",
        "machines/looping/jwz.rs",
        "machines/pulse/mod.rs",
        "setup/doctor/programs.rs",
        "setup/install/uninstall.rs",
        "setup/man.rs",
        "setup/trial.rs",
        "show/notify.rs",
    ];
    children.retain(|name| name != "process.rs");
    assert_eq!(children, known, "who starts a child");
}

/// A proxy sees what git sends, and a file for cookies is written: neither can be overridden from
/// outside, so the repository is asked nothing.
#[test]
fn a_repository_that_leads_connections_elsewhere_is_asked_nothing_until_it_is_trusted() {
    let trapped = Trapped::new();
    trapped.git(&["remote", "add", "origin", "https://github.com/o/r.git"]);
    let cookies = trapped.env.home().join("cookies");
    for (setting, value) in [
        ("http.proxy", "http://127.0.0.1:1"),
        ("http.cookieFile", cookies.to_str().unwrap()),
        ("remote.origin.proxy", "http://127.0.0.1:1"),
    ] {
        trapped.git(&["config", setting, value]);
        let said = trapped.env.run(&["claim", "list"]);
        let said = format!("{}{}", said.stdout, said.stderr);
        assert!(
            said.contains("leads its connections elsewhere"),
            "{setting}: {said}"
        );
        assert!(said.contains("`mainspring trust`"), "{said}");
        trapped.git(&["config", "--unset-all", setting]);
    }
    assert!(!cookies.exists());
}
