use std::collections::BTreeSet;

use pretty_assertions::assert_eq;

use super::*;

/// Processes, the nearest first: each is its program's file, followed by its arguments.
fn tree(lines: &[&str]) -> Vec<Ancestor> {
    let process = |(at, line): (usize, &&str)| {
        let mut words = line.split(' ').map(str::to_owned);
        Ancestor {
            pid: 1000 - u32::try_from(at).unwrap(),
            program: words.next().unwrap(),
            args: words.collect(),
        }
    };
    lines.iter().enumerate().map(process).collect()
}

fn above(lines: &[&str]) -> Option<&'static str> {
    recognise(|_| false, &tree(lines)).map(|agent| agent.name)
}

fn assert_recognised(cases: &[(&[&str], &str)]) {
    for (lines, name) in cases {
        assert_eq!(above(lines), Some(*name), "{lines:?}");
    }
}

#[test]
fn a_client_above_makes_it_an_agents_shell() {
    assert_recognised(&[
        // A shell under the client, which is under a person's own shell in tmux.
        (
            &[
                "/usr/bin/bash /bin/bash -c cmd",
                "/home/dev/.local/share/claude/versions/2.1.325 claude",
                "/usr/bin/zsh -zsh",
                "/usr/bin/tmux tmux new -s work",
                "/usr/lib/systemd/systemd /sbin/init",
            ],
            "Claude Code",
        ),
        // In the terminal of an editor.
        (
            &[
                "/usr/bin/bash bash -c cmd",
                "/usr/bin/node claude",
                "/usr/bin/fish -fish",
                "/usr/share/code/code /usr/share/code/code --type=utility",
                "/usr/share/code/code /usr/share/code/code",
            ],
            "Claude Code",
        ),
        // Started by an editor's extension, without a shell between.
        (
            &[
                "/usr/bin/bash bash -c cmd",
                "/home/dev/.vscode/extensions/anthropic.claude-code-2/resources/claude /x/claude --ide",
                "/usr/share/code/code /usr/share/code/code --type=utility",
            ],
            "Claude Code",
        ),
        // Updated while it runs, and its own helper in between.
        (
            &[
                "/usr/bin/sh sh -c cmd",
                "/opt/codex (deleted) codex app-server --managed-daemon",
            ],
            "Codex",
        ),
        (
            &[
                "/usr/bin/make make",
                "/usr/bin/cargo cargo test",
                "/usr/local/bin/droid droid exec",
            ],
            "Factory Droid",
        ),
        (&["/home/dev/.grok/bin/grok grok -p x"], "Grok Build"),
    ]);
}

#[test]
fn a_client_is_recognised_by_the_script_that_its_interpreter_runs() {
    assert_recognised(&[
        // As npm installs it.
        (
            &[
                "/usr/bin/node node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js --continue",
            ],
            "Claude Code",
        ),
        (
            &["/usr/bin/node node --no-warnings /home/dev/.npm-global/bin/claude"],
            "Claude Code",
        ),
        (
            &["/usr/bin/node node -r ./hook.js --inspect /opt/bin/gemini -y"],
            "Gemini CLI",
        ),
        (
            &["/root/.bun/bin/bun bun /x/node_modules/opencode-ai/bin/opencode"],
            "opencode",
        ),
        (
            &["/root/.deno/bin/deno deno run -A /x/node_modules/@google/gemini-cli/dist/index.js"],
            "Gemini CLI",
        ),
        (
            &["/usr/bin/python3.13 /usr/bin/python3 /home/dev/.local/bin/kimi"],
            "Kimi Code",
        ),
        (
            &["/usr/bin/node node /x/node_modules/@earendil-works/pi-coding-agent/dist/cli.js"],
            "pi",
        ),
        (
            &[
                "/home/dev/.local/share/cursor-agent/versions/1/node node /home/dev/.local/share/cursor-agent/versions/1/index.js",
            ],
            "Cursor",
        ),
    ]);
}

#[test]
fn a_person_is_a_person_in_any_terminal() {
    for lines in [
        &[
            "/usr/bin/bash -bash",
            "/usr/lib/openssh/sshd sshd: dev@pts/0",
            "/usr/sbin/sshd sshd",
        ][..],
        &[
            "/usr/bin/zsh zsh",
            "/usr/bin/tmux tmux",
            "/usr/lib/systemd/systemd /sbin/init",
        ],
        &[
            "/usr/bin/zsh zsh",
            "/usr/share/code/code code --type=ptyHost",
            "/usr/share/code/code code",
        ],
        &[
            "/usr/bin/zsh zsh",
            "/opt/cursor/cursor /opt/cursor/cursor --type=utility",
            "/opt/cursor/cursor cursor",
        ],
        &[
            "/usr/bin/fish fish",
            "/usr/bin/nvim nvim claude",
            "/usr/bin/fish fish",
        ],
        &["/usr/bin/emacs emacs codex.md"],
        // Node alone, and a script that only has an agent among its words.
        &["/usr/bin/node node"],
        &["/usr/bin/node node server.js"],
        &["/usr/bin/node node build.js claude"],
        &["/usr/bin/node node /srv/claude-code-notes/index.js"],
        &["/usr/bin/python3 python3 -c print() codex"],
        // A folder or a file with such a name is no program.
        &["/home/claude/bin/deploy deploy"],
        &["/usr/bin/bash bash /home/dev/gemini/run.sh"],
        &["/usr/bin/less less claude"],
        &["  "],
        &[],
    ] {
        assert_eq!(above(lines), None, "{lines:?}");
    }
}

#[test]
fn the_nearest_client_is_the_one_that_is_named_with_its_process() {
    let nested = tree(&[
        "/bin/sh sh",
        "/opt/codex codex exec",
        "/bin/bash bash",
        "/opt/claude claude",
    ]);
    let agent = recognise(|_| false, &nested).unwrap();
    assert_eq!((agent.name, agent.sign), ("Codex", Sign::Ancestor(999)));
    assert_eq!(agent.reason(), "process 999, which started this, is Codex");
}

#[test]
fn a_client_of_two_processes_is_one_client() {
    for lines in [
        &["/opt/claude claude", "/usr/bin/zsh -zsh"][..],
        // npm's script, and the program that it starts.
        &[
            "/x/codex codex exec",
            "/usr/bin/node node /x/node_modules/@openai/codex/bin/codex.js",
            "/usr/bin/zsh -zsh",
        ],
        // It starts itself again with more memory.
        &[
            "/usr/bin/node node --max-old-space-size=8 /x/bin/qwen",
            "/usr/bin/node node /x/bin/qwen",
            "/usr/bin/zsh -zsh",
        ],
    ] {
        assert!(!is_nested(&tree(lines)), "{lines:?}");
    }
}

#[test]
fn a_client_that_an_agent_started_is_nested() {
    for lines in [
        // In a shell of the agent's.
        &[
            "/opt/claude claude -p",
            "/bin/sh sh -c x",
            "/opt/claude claude",
        ][..],
        // Another host's, without a shell between.
        &["/x/codex codex exec", "/opt/claude claude"],
        // A client of two processes, below another one.
        &["/x/qwen qwen", "/x/qwen qwen", "/bin/sh sh", "/x/qwen qwen"],
    ] {
        assert!(is_nested(&tree(lines)), "{lines:?}");
    }
}

#[test]
fn a_variable_of_an_agents_shell_is_enough_and_one_of_a_profile_is_none() {
    let with = |variable: &str| recognise(|name| name == variable, &[]).map(|agent| agent.name);
    for (variable, name) in [
        ("CLAUDE_CODE_SESSION_ID", "Claude Code"),
        ("CLAUDECODE", "Claude Code"),
        ("CODEX_SESSION_ID", "Codex"),
        ("CODEX_THREAD_ID", "Codex"),
        ("GEMINI_CLI", "Gemini CLI"),
        ("QWEN_CODE_SESSION_ID", "Qwen Code"),
        ("COPILOT_AGENT_SESSION_ID", "Copilot CLI"),
        ("OPENCODE", "opencode"),
        ("GROK_AGENT", "Grok Build"),
        ("MAINSPRING_DEPTH", "a child of Mainspring"),
    ] {
        assert_eq!(with(variable), Some(name), "{variable}");
    }
    for profile in [
        "CODEX_HOME",
        "CLAUDE_CONFIG_DIR",
        "CLAUDE_CODE_SSE_PORT",
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
        "COPILOT_HOME",
        "GROK_DISABLE_AUTOUPDATER",
        "TERM_PROGRAM",
    ] {
        assert_eq!(with(profile), None, "{profile}");
    }
    let by_variable = recognise(|name| name == "CLAUDECODE", &tree(&["/opt/codex codex"])).unwrap();
    let said = "CLAUDECODE is set here, as in a shell of Claude Code";
    assert_eq!(by_variable.reason(), said);
}

#[test]
fn the_session_is_the_one_that_the_agents_host_names() {
    let of = |given: &str, value: &str| {
        let named = session(|name| (name == given).then(|| value.to_owned()));
        named.map(|session| session.to_string())
    };
    for variable in [
        "CLAUDE_CODE_SESSION_ID",
        "CODEX_SESSION_ID",
        "GROK_SESSION_ID",
    ] {
        assert_eq!(of(variable, "s-1").as_deref(), Some("s-1"), "{variable}");
        assert_eq!(of(variable, ""), None, "{variable}");
    }
    assert_eq!(of("GEMINI_CLI", "1"), None);
}

/// Two hosts with one name or variable would be told apart by chance, and no interpreter,
/// shell or editor is a host.
#[test]
fn the_table_is_of_hosts_and_each_sign_is_one_hosts() {
    let mut seen = BTreeSet::new();
    for agent in KNOWN {
        let signs = agent
            .session
            .iter()
            .chain(agent.marks)
            .chain(agent.programs)
            .chain(agent.folders);
        // A program may be in a folder of its own name.
        for sign in signs.collect::<BTreeSet<_>>() {
            assert!(seen.insert(*sign), "{sign} is there twice");
        }
    }
    for plain in INTERPRETERS
        .iter()
        .chain(&["sh", "bash", "zsh", "code", "cursor", "nvim", "tmux"])
    {
        assert!(!seen.contains(plain), "{plain}");
    }
}
