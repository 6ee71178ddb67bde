//! A repository whose configuration names programs: we run git in it, and none of them is
//! started.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::world::{World, world};

/// A program that leaves a mark.
fn trap(path: &Path, mark: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let script = format!("#!/bin/sh\necho \"$0 $*\" >> {}\n", mark.display());
    fs::write(path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Hooks of every kind, in both places where git may look for them.
fn set_hooks(world: &World, hooks: &Path, mark: &Path) {
    let own = world.env.project().join(".git/hooks");
    for hook in [
        "pre-push",
        "post-checkout",
        "post-index-change",
        "reference-transaction",
        "fsmonitor-watchman",
        "pre-auto-gc",
        "post-commit",
        "pre-commit",
    ] {
        trap(&hooks.join(hook), mark);
        trap(&own.join(hook), mark);
    }
}

/// Every setting of git's that names a program.
fn set_programs(world: &World, hooks: &Path, program: &Path) {
    let hooks = hooks.display().to_string();
    let run = program.display().to_string();
    let shell = format!("!{run}");
    let attributes = "* filter=x diff=x merge=x\n";
    fs::write(world.env.project().join(".gitattributes"), attributes).unwrap();
    for (name, value) in [
        ("core.fsmonitor", run.as_str()),
        ("core.hooksPath", &hooks),
        ("core.pager", &run),
        ("pager.rev-parse", &run),
        ("core.editor", &run),
        ("core.sshCommand", &run),
        ("core.gitProxy", &run),
        ("core.askPass", &run),
        ("core.alternateRefsCommand", &run),
        ("credential.helper", &shell),
        ("diff.external", &run),
        ("diff.x.textconv", &run),
        ("diff.x.command", &run),
        ("filter.x.clean", &run),
        ("filter.x.smudge", &run),
        ("filter.x.process", &run),
        ("merge.x.driver", &run),
        ("gpg.program", &run),
        ("commit.gpgSign", "true"),
        ("push.gpgSign", "if-asked"),
        ("alias.rev-parse", &shell),
        ("alias.config", &shell),
        ("alias.push", &shell),
        ("interactive.diffFilter", &run),
        ("sequence.editor", &run),
        ("uploadpack.packObjectsHook", &run),
        ("protocol.ext.allow", "always"),
        ("remote.origin.uploadpack", &run),
        ("remote.origin.receivepack", &run),
        ("log.showSignature", "true"),
        ("gpg.ssh.program", &run),
    ] {
        world.git(&["config", name, value]);
    }
}

#[test]
fn a_repository_with_traps_in_its_configuration_springs_none() {
    let Some(world) = world() else { return };
    world.work();
    let mark = world.env.root().join("mark");
    let evil = world.env.root().join("evil");
    trap(&evil, &mark);
    let hooks = world.env.root().join("hooks");
    set_hooks(&world, &hooks, &mark);
    set_programs(&world, &hooks, &evil);
    // Programs of the same names in the repository, where a relative PATH would find them.
    for program in ["git", "gh", "sh", "ssh"] {
        trap(&world.env.project().join(program), &mark);
    }
    world.env.run(&["claim", "42"]).ok();
    world.write("ready_for_pr");
    let said = world.stop("done").held();
    assert!(said.contains("PR #44 created"), "{said}");
    drop(world.idle().ok());
    drop(world.prompt("and now?"));
    let sprung = fs::read_to_string(&mark).unwrap_or_default();
    assert_eq!(sprung, "", "a trap was sprung");
}
