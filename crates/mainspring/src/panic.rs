//! A panic is our own failure: the stop is let through, and the person hears of it.

use crate::output;

/// From now on a panic prints an answer that every host takes as "go on", and exits 0.
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
        let printed = output::stdout(&format!("{answer}\n")).is_ok();
        output::stderr(&info.to_string());
        #[expect(clippy::exit, reason = "a panic hook has no caller to return to")]
        std::process::exit(i32::from(!printed));
    }));
}
