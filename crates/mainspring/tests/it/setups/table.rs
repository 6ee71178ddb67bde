//! The broken set-ups.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;

use super::Bench;
use crate::env::MAINSPRING;

/// One broken set-up.
pub(super) struct Broken {
    pub(super) name: &'static str,
    pub(super) breaks: fn(&mut Bench),
    /// What the doctor's finding is about, and a part of what it says.
    pub(super) about: &'static str,
    pub(super) says: &'static str,
    /// A part of the command that it says to type.
    pub(super) fix: &'static str,
}

const fn broken(
    name: &'static str,
    breaks: fn(&mut Bench),
    about: &'static str,
    says: &'static str,
    fix: &'static str,
) -> Broken {
    Broken {
        name,
        breaks,
        about,
        says,
        fix,
    }
}

pub(super) const SETUPS: &[Broken] = &[
    broken(
        "a skill's files are guarded, and the event for it is not registered",
        |bench| {
            let said = bench
                .run(&["config", "set", "tasks.guard_files", "true"])
                .ok();
            assert!(said.contains("`mainspring install` registers"), "{said}");
        },
        "hooks",
        "tasks.guard_files is on, but the event before a tool is not registered",
        "mainspring install",
    ),
    broken(
        "nothing is registered",
        |bench| fs::remove_file(bench.settings()).unwrap(),
        "hooks",
        "are not registered",
        "mainspring install",
    ),
    broken(
        "the registered program is gone",
        |bench| {
            let text = fs::read_to_string(bench.settings()).unwrap();
            let bin = bench.bin();
            fs::write(
                bench.settings(),
                text.replace(bin.to_str().unwrap(), "/gone"),
            )
            .unwrap();
        },
        "hooks",
        "/gone/mainspring-hook, which does not exist",
        "mainspring install",
    ),
    broken(
        "another version is registered",
        |bench| {
            let old = bench.env.root().join("old");
            fs::create_dir_all(&old).unwrap();
            bench.program("mainspring-old", "echo 'mainspring 0.0.9'");
            for name in ["mainspring", "mainspring-hook"] {
                fs::copy(bench.bin().join("mainspring-old"), old.join(name)).unwrap();
            }
            let text = fs::read_to_string(bench.settings()).unwrap();
            let bin = bench.bin();
            fs::write(
                bench.settings(),
                text.replace(bin.to_str().unwrap(), old.to_str().unwrap()),
            )
            .unwrap();
        },
        "hooks",
        "two versions are in use: ",
        "mainspring install",
    ),
    broken(
        "our second name is gone",
        |bench| bench.remove("mainspring-hook"),
        "hooks",
        "bin/mainspring-hook, which does not exist",
        "mainspring install",
    ),
    broken(
        "the old form with a list of arguments",
        |bench| {
            bench.change(|settings| {
                settings["hooks"]["Stop"][0]["hooks"][0]["command"] = MAINSPRING.into();
                settings["hooks"]["Stop"][0]["hooks"][0]["args"] = json!(["hook"]);
            });
        },
        "hooks",
        "in a list, which other agents",
        "mainspring install",
    ),
    broken(
        "a stop has too little time",
        |bench| {
            bench.change(|settings| {
                settings["hooks"]["Stop"][0]["hooks"][0]["timeout"] = 30.into();
            });
        },
        "hooks",
        "a timeout of 30 s",
        "mainspring install",
    ),
    broken(
        "a stop has no time limit",
        |bench| {
            bench.change(|settings| {
                settings["hooks"]["Stop"][0]["hooks"][0]
                    .as_object_mut()
                    .unwrap()
                    .remove("timeout");
            });
        },
        "hooks",
        "Stop has no timeout",
        "mainspring install",
    ),
    broken(
        "an event is missing",
        |bench| {
            bench.change(|settings| {
                settings["hooks"]
                    .as_object_mut()
                    .unwrap()
                    .remove("SessionEnd");
            });
        },
        "hooks",
        "not registered for SessionEnd",
        "mainspring install",
    ),
    broken(
        "two settings files of one person",
        |bench| {
            bench.run(&["install", "--scope", "local", "--yes"]).ok();
        },
        "hooks",
        "two hooks run at every event",
        "mainspring uninstall --scope local",
    ),
    broken(
        "all hooks are switched off",
        |bench| {
            bench.change(|settings| settings["disableAllHooks"] = true.into());
            bench.editor("s/\"disableAllHooks\": true/\"disableAllHooks\": false/");
        },
        "switched off",
        "disableAllHooks is set in the user settings",
        "settings.json",
    ),
    broken(
        "MAINSPRING_DISABLE in the settings",
        |bench| {
            bench.change(|settings| settings["env"]["MAINSPRING_DISABLE"] = "1".into());
            bench.editor("s/(\"MAINSPRING_DISABLE\": )\"1\"/\\1\"0\"/");
        },
        "switched off",
        "MAINSPRING_DISABLE is set in the user settings",
        "settings.json",
    ),
    broken(
        "MAINSPRING_DISABLE in the shell",
        |bench| bench.set("MAINSPRING_DISABLE", "1"),
        "switched off",
        "is set here",
        "unset MAINSPRING_DISABLE",
    ),
    broken(
        "a settings file that cannot be read",
        |bench| {
            let text = fs::read_to_string(bench.settings()).unwrap();
            fs::write(bench.settings(), format!("x{text}")).unwrap();
            bench.editor("1s/^x//");
        },
        "settings",
        "cannot be read as JSON",
        "settings.json",
    ),
    broken(
        "the limit of held stops is as low as the host's",
        |bench| {
            bench.change(|settings| {
                settings["env"]
                    .as_object_mut()
                    .unwrap()
                    .remove("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP");
            });
        },
        "block cap",
        "after 8 blocks",
        "mainspring install",
    ),
    broken(
        "a person's own limit is low",
        |bench| {
            bench
                .change(|settings| settings["env"]["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"] = "9".into());
            bench.editor("s/\"9\"/\"100\"/");
        },
        "block cap",
        "after 9 blocks",
        "settings.json",
    ),
    broken(
        "the task tools are off",
        |bench| {
            bench.change(|settings| {
                settings["env"]
                    .as_object_mut()
                    .unwrap()
                    .remove("CLAUDE_CODE_ENABLE_TODO_TOOLS");
            });
        },
        "task tools",
        "may be off",
        "mainspring install",
    ),
    broken(
        "a plugin that does not load",
        |bench| {
            let folder = bench.plugin();
            fs::remove_file(bench.settings()).unwrap();
            bench.change(|settings| {
                settings["enabledPlugins"] = json!({"mainspring@mainspring": true});
            });
            fs::remove_dir_all(folder).unwrap();
        },
        "plugin",
        "the plugin does not load",
        "mainspring install",
    ),
    broken(
        "a plugin, and no mainspring on the PATH",
        |bench| {
            fs::remove_file(bench.settings()).unwrap();
            bench.plugin();
            bench.run(&["install", "--yes"]).ok();
            bench.remove("mainspring");
            bench.remove("mainspring-hook");
        },
        "program",
        "is not on the PATH",
        "ln -sf",
    ),
    broken(
        "another mainspring on the PATH",
        |bench| {
            let text = fs::read_to_string(bench.settings()).unwrap();
            let folder = Path::new(MAINSPRING).parent().unwrap();
            fs::write(
                bench.settings(),
                text.replace(bench.bin().to_str().unwrap(), folder.to_str().unwrap()),
            )
            .unwrap();
            for name in ["mainspring", "mainspring-hook"] {
                bench.program(name, "echo 'mainspring 0.0.9'");
            }
        },
        "program",
        "two versions are in use",
        "ln -sf",
    ),
    broken(
        "a public script beside us",
        |bench| {
            bench.change(|settings| {
                settings["hooks"]["Stop"]
                    .as_array_mut()
                    .unwrap()
                    .push(json!({"hooks": [{
                        "type": "command",
                        "command": "$HOME/.claude/skills/taskmaster/hooks/check-completion.sh",
                    }]}));
            });
        },
        "scripts",
        "taskmaster in the user settings",
        "mainspring install --replace",
    ),
    broken(
        "a drop-in beside us",
        |bench| {
            bench.change(|settings| {
                settings["hooks"]["Stop"].as_array_mut().unwrap().push(json!({"hooks": [{
            "type": "command", "command": format!("{MAINSPRING} compat idle"), "timeout": 3000,
        }]}));
            });
        },
        "scripts",
        "idle in the user settings",
        "mainspring install --replace",
    ),
    broken(
        "no client",
        |bench| bench.remove("claude"),
        "claude",
        "claude is not on the PATH",
        "npm install",
    ),
    broken(
        "a client of 1.0.30",
        |bench| bench.claude("1.0.30"),
        "claude",
        "1.0.30 is older than",
        "npm install",
    ),
    broken(
        "a client that does not start",
        |bench| {
            bench.program("claude", "echo 'no such library' >&2; exit 127");
        },
        "claude",
        "no such library",
        "npm install",
    ),
    broken(
        "no git",
        |bench| bench.remove("git"),
        "git",
        "git is not on the PATH",
        "apt-get install -y git",
    ),
    broken(
        "no gh",
        |bench| bench.remove("gh"),
        "gh",
        "gh is not on the PATH",
        "apt-get install -y gh",
    ),
    broken(
        "gh is not signed in",
        |bench| {
            let bin = bench.bin();
            bench.program(
                "gh",
                &format!(
                    "case \"$2\" in login) touch {0}/in;; *) test -f {0}/in;; esac",
                    bin.display()
                ),
            );
        },
        "gh",
        "not signed in",
        "gh auth login",
    ),
    broken(
        "gh may not open pull requests",
        |bench| {
            let bin = bench.bin();
            bench.program("gh", &format!(
            "case \"$2\" in refresh) touch {0}/may;; *) test -f {0}/may && echo \"Token scopes: 'repo'\" || echo \"Token scopes: 'gist'\";; esac", bin.display()));
        },
        "gh",
        "lacks the scope `repo`",
        "gh auth refresh --scopes repo",
    ),
    broken(
        "a reviewer's program that does not exist",
        |bench| {
            let file = bench.env.home().join(".config/mainspring/config.toml");
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "[review]\ncommand = \"reviewer-of-old\"\n").unwrap();
        },
        "reviewer",
        "\"reviewer-of-old\" does not exist",
        "mainspring config unset review.command",
    ),
    broken(
        "a home that cannot be written",
        |bench| bench.set("XDG_STATE_HOME", "/proc/self"),
        "state",
        "cannot be written, so no stop is held",
        "export XDG_STATE_HOME",
    ),
    broken(
        "state that others can write",
        |bench| {
            fs::set_permissions(bench.env.state(), fs::Permissions::from_mode(0o777)).unwrap();
        },
        "state",
        "can be written by others",
        "chmod 700",
    ),
    broken(
        "a due review in a project that nobody trusts",
        |bench| {
            bench.run(&["untrust"]).ok();
            let plan = bench.env.project().join(".taskie/plans/shop");
            fs::create_dir_all(&plan).unwrap();
            fs::write(plan.join("plan.md"), "# Shop\n").unwrap();
            let state = json!({"max_reviews": 8, "current_task": null, "phase": "new-plan",
            "next_phase": "plan-review", "review_model": "opus", "consecutive_clean": 0, "tdd": false});
            fs::write(plan.join("state.json"), state.to_string()).unwrap();
        },
        "trust",
        "this project brings .taskie",
        "mainspring trust",
    ),
    broken(
        "settings of the project that changed since",
        |bench| {
            fs::write(
                bench.env.project().join("mainspring.toml"),
                "[gate]\nprefix = \"READY\"\n",
            )
            .unwrap();
        },
        "trust",
        "is not the version that you trusted",
        "mainspring trust",
    ),
    broken(
        "everything is stopped",
        |bench| {
            bench.run(&["stop"]).ok();
        },
        "orders",
        "stopped or paused",
        "mainspring resume",
    ),
    broken(
        "only observing",
        |bench| {
            bench.run(&["observe"]).ok();
        },
        "orders",
        "only observing",
        "mainspring observe off",
    ),
    broken(
        "a file that switches everything off",
        |bench| {
            fs::write(bench.env.project().join(".mainspring-off"), "").unwrap();
        },
        "orders",
        "switches everything off here",
        "rm ",
    ),
    broken(
        "a damaged file of ours",
        |bench| {
            bench.run(&["pulse", "3"]).ok();
            fs::write(bench.env.project_state().join("pulse.json"), "{").unwrap();
        },
        "files",
        "pulse.json",
        "mainspring doctor --fix",
    ),
];
