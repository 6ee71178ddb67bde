//! `mainspring demo` is what a person sees first: every word of it is compared.

use crate::env::TestEnv;

/// The times in the demo are its own. What is measured or hashed differs each time.
const FILTERS: [(&str, &str); 6] = [
    (r"projects/[0-9a-f]{32}/", "projects/[project]/"),
    (r"\bat [0-9a-f]{8}…", "at [key]…"),
    (r"\(after \d+s\)", "(after [span])"),
    (r"(at \[key\]…|last: pass), \d+s", "$1, [span]"),
    (r"\b\d+ s, \$", "[span], $$"),
    (r"mainspring \d+\.\d+\.\d+\.", "mainspring [version]."),
];

/// `INSTA_UPDATE=always cargo test -p mainspring whole_demo` writes it down.
#[test]
fn the_whole_demo_is_as_it_was_written_down() {
    let played = TestEnv::new().run(&["demo"]).ok();
    insta::with_settings!({
        filters => FILTERS,
        snapshot_path => "../snapshots",
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_snapshot!("demo", played);
    });
}

/// Without programs the check cannot run, so the agent is not held as the scene tells.
#[test]
fn a_scene_that_does_not_come_out_as_told_says_so() {
    let env = TestEnv::new().with("PATH", "/nonexistent");
    let ran = env.run(&["demo", "gate", "check"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(
        ran.stderr,
        "error: the scene `check` did not come out as told: the agent should have been kept going\n\
         hint: the last lines of the scene show what happened instead\n"
    );
    assert!(ran.stdout.contains("── gate"), "{}", ran.stdout);
    let end = ran.stdout.trim_end();
    assert!(end.ends_with("the agent stops"), "{end}");
}
