//! What is read as configuration: how much of it, whose, and through which links.

use std::fmt::Write as _;
use std::fs;

use crate::env::TestEnv;

/// A repository's file of 256 KiB that has nothing but unknown settings took a stop 12
/// seconds: each was looked up in the text, and compared with every name there is.
#[test]
fn a_file_of_unknown_settings_is_named_in_a_few_lines() {
    let env = TestEnv::new();
    for section in ["[gate]\n", "", "[a.b]\n"] {
        let mut text = section.to_owned();
        let mut keys = 0;
        while text.len() < 255 * 1024 {
            writeln!(text, "k{keys} = 1").unwrap();
            keys += 1;
        }
        fs::write(env.project().join("mainspring.toml"), &text).unwrap();
        let checked = env.run(&["config", "check"]);
        assert_eq!(checked.code, Some(3), "{}", checked.stdout.len());
        let warnings = checked
            .stdout
            .lines()
            .filter(|line| line.starts_with("warning:"));
        assert!(warnings.count() <= 11, "{section}: {}", checked.stdout);
        if section != "[a.b]\n" {
            let rest = format!("{} more problems of this kind", keys - 10);
            assert!(checked.stdout.contains(&rest), "{}", checked.stdout);
        }
        assert_eq!(env.stop("x").let_go(), "");
        let examined = env.run(&["doctor"]).stdout;
        assert!(examined.lines().count() < 80, "{examined}");
    }
}
