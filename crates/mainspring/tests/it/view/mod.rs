//! `mainspring view`: the server by plain requests, and the page in a real browser.

mod access;
mod browser;
mod needs;
mod pages;

use mainspring_testkit::view::View;

use crate::env::TestEnv;

/// The page, started by a person.
pub(crate) fn view(env: &TestEnv) -> View {
    View::start(&mut env.command())
}

/// A trusted project in which a session was held twice.
fn held_twice() -> TestEnv {
    let env = TestEnv::new();
    env.trust();
    env.run(&["pulse", "9"]).ok();
    env.stop("one").held();
    env.stop("two").held();
    env
}

/// The project's name in addresses.
fn key(env: &TestEnv) -> String {
    let dir = env.project_state();
    dir.file_name().unwrap().to_str().unwrap().to_owned()
}
