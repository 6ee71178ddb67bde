//! What the tests and benchmarks are built with. Never shipped.
//!
//! A test tells a story: what the model says, how the client is set up, what the person asks, and
//! what happens.
//!
//! ```no_run
//! use mainspring_testkit::claude::{Claude, Hook};
//! use mainspring_testkit::fakes::{Fake, Fakes};
//! use mainspring_testkit::model::{Model, Script, Turn};
//! use serde_json::json;
//!
//! let model = Model::play(
//!     Script::new([
//!         Turn::call("Bash", json!({"command": "make"})),
//!         Turn::say("It is built."),
//!         Turn::say("And now it is reviewed."),
//!     ])
//!     .for_model("opus", [Turn::structured(json!({"verdict": "FAIL"}))]),
//! );
//! let fakes = Fakes::install([Fake::of("gh").called_with(["pr", "view"]).exits(1)]);
//! // `None` where the clients are to be skipped, which it has then said.
//! let Some(claude) = Claude::new(&model) else { return };
//! let claude = claude
//!     .in_repository()
//!     .path_first(fakes.folder())
//!     .hooks(["SessionStart", "Stop"], &Hook::exec("/abs/mainspring", ["hook"]))
//!     .recording();
//!
//! let run = claude.run("build it").expect_success();
//!
//! assert_eq!(run.answer(), "And now it is reviewed.");
//! assert_eq!(claude.hook_calls_of("Stop")[0].answer()["decision"], "block");
//! assert!(model.saw_text("Stop hook feedback"));
//! model.assert_played_out();
//! ```
//!
//! | module | what it plays or drives |
//! |---|---|
//! | [`model`] | the vendors' model APIs, by a script |
//! | [`claude`] | the real client, headless and in a terminal |
//! | [`hosts`] | the real clients of every host |
//! | [`journeys`] | what every host gets, in its real client |
//! | [`stops`] | many stops with work between them, in the real client |
//! | [`contract`] | what the code relies on in each host, checked against its client |
//! | [`recorder`] | a recorder between the client and a hook |
//! | [`fakes`] | `claude`, `gh` and others as scripted programs, for fast tests |
//! | [`files`] | what a test sets out before it starts |
//! | [`tmux`] | a terminal to type into and look at |
//! | [`view`], [`browser`] | the page, and a real browser to look at it |
//! | [`process`] | children with a deadline and a group of their own |
//! | [`clients`] | where the pinned real clients are |
//! | [`bins`] | where the kit's own programs are |
//! | [`simulate`] | random lives over the real kernel and the real store |
//! | [`explore`] | every order of steps of hooks that race and die, with the kernel's own turn |

#![expect(
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test fails where it stands, and its world is its own"
)]

pub mod bench;
pub mod bins;
pub mod browser;
pub mod channels;
pub mod claude;
pub mod clients;
pub mod contract;
pub mod explore;
pub mod fakes;
pub mod faults;
pub mod files;
pub mod fuzz;
pub mod github;
pub mod hosts;
pub mod http;
pub mod journeys;
pub mod layout;
pub mod model;
pub mod modules;
pub mod pictures;
pub mod process;
pub mod recorder;
pub mod simulate;
pub mod stops;
pub mod tmux;
pub mod upgrade;
pub mod view;
pub mod view_speed;
pub mod world;
pub mod year;
