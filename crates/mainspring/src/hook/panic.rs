//! A panic is our own failure: the agent may stop, and the person gets a message.

use crate::output::{self, Paint};

/// Makes a panic print an answer that lets every host go on, and exit with 0.
pub(crate) fn answer_on_panic() {
    std::panic::set_hook(Box::new(|info| {
        let place = info
            .location()
            .map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
        let message = format!(
            "mainspring: internal error{place}: nothing was checked and the agent was let go. \
             `mainspring doctor` helps to report it"
        );
        let answer = serde_json::json!({ "systemMessage": message });
        let printed = output::stdout(&format!("{answer}\n"), Paint::Plain).is_ok();
        output::stderr(&info.to_string());
        #[expect(clippy::exit, reason = "a panic hook has no caller to return to")]
        std::process::exit(i32::from(!printed));
    }));
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use mainspring_kernel::Millis;
    use serde_json::Value;

    use crate::env::Environment;
    use crate::hook;
    use crate::hosts::CalledBy;

    /// This test ends its process, so the test below runs it in a process of its own.
    #[test]
    #[ignore = "panics by intent, in a process that another test starts"]
    fn a_hook_that_panics() {
        let silent = Environment::given(&[("MAINSPRING_DISABLE", "1")], Millis(0));
        hook::run(&silent, CalledBy::Name, None);
        panic!("by intent");
    }

    #[test]
    fn a_panic_of_a_hook_lets_go_and_names_its_place() {
        #[expect(
            clippy::disallowed_methods,
            reason = "the test program starts itself; this is no child of the product"
        )]
        let mut panics = Command::new(std::env::current_exe().unwrap());
        let ran = panics
            .args([
                "--exact",
                "hook::panic::tests::a_hook_that_panics",
                "--ignored",
            ])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert_eq!(ran.status.code(), Some(0), "{ran:?}");
        let stdout = String::from_utf8(ran.stdout).unwrap();
        let answer = stdout
            .lines()
            .find_map(|line| line.find('{').map(|at| &line[at..]));
        let answer: Value = serde_json::from_str(answer.unwrap()).unwrap();
        let said = answer["systemMessage"].as_str().unwrap();
        assert!(said.contains("internal error at"), "{said}");
        assert!(said.contains("panic.rs"), "{said}");
        assert_eq!(answer["decision"], Value::Null);
        let stderr = String::from_utf8(ran.stderr).unwrap();
        assert!(stderr.contains("by intent"), "{stderr}");
    }
}
