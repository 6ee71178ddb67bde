use mainspring_kernel::Millis;

use super::*;

#[test]
fn a_relative_entry_of_path_is_not_searched() {
    let env = Environment::given(&[("PATH", ".:bin:/usr/bin:/bin")], Millis(0));
    let git = find(&env, "claim.git", "git").unwrap();
    assert!(git.is_absolute(), "{git:?}");
    let nowhere = Environment::given(&[("PATH", ".")], Millis(0));
    let error = find(&nowhere, "claim.git", "git").unwrap_err();
    assert!(error.to_string().contains("claim.git"), "{error}");
}

#[test]
fn gits_reason_is_shown_and_not_its_last_hint() {
    for (stderr, expected) in [
        (
            "To https://github.com/acme/widgets.git\n ! [rejected]        topic -> topic (non-fast-forward)\n\
             error: failed to push some refs to 'x'\nhint: Updates were rejected because the tip of\n\
             hint: See the 'Note about fast-forwards' in 'git push --help' for details.\n",
            Some("! [rejected] topic -> topic (non-fast-forward)"),
        ),
        (
            "remote: no pushes on Fridays\nTo x\n ! [remote rejected] a -> a (pre-receive hook declined)\n\
             error: failed to push some refs to 'x'\n",
            Some(
                "! [remote rejected] a -> a (pre-receive hook declined); the server says: no pushes \
                 on Fridays",
            ),
        ),
        (
            "fatal: Could not read from remote repository.\n\nPlease make sure you have the correct \
             access rights\nand the repository exists.\n",
            Some("fatal: Could not read from remote repository."),
        ),
        ("hint: only a hint\n", None),
        ("", None),
    ] {
        assert_eq!(reason(stderr).as_deref(), expected, "{stderr}");
    }
}

#[test]
fn a_remotes_name_is_no_option() {
    for (name, usable) in [
        ("origin", true),
        ("up/stream", true),
        ("--exec=x", false),
        ("ext::sh", false),
        ("", false),
        ("a b", false),
    ] {
        assert_eq!(is_remote(name), usable, "{name:?}");
    }
}
