//! A driver for the real `claude` client.
//!
//! ```no_run
//! use mainspring_testkit::claude::{Claude, Hook};
//! use mainspring_testkit::model::{Model, Turn};
//!
//! let model = Model::play([Turn::say("I am done."), Turn::say("Now I really am.")]);
//! let Some(claude) = Claude::new(&model) else { return };
//! let claude = claude
//!     .in_repository()
//!     .hook("Stop", &Hook::exec("/abs/mainspring", ["hook"]));
//!
//! let run = claude.run("do it").expect_success();
//! assert_eq!(run.answer(), "Now I really am.");
//! assert!(model.saw_text("Stop hook feedback"));
//! ```
//!
//! A [`Claude`] owns a home and a project for as long as it lives, so one can
//! look into both, run again, and resume: `claude.ask("go on").resuming(id).run()`.
//! Nothing of the test's own environment reaches the client.
//!
//! Surprising behaviour, seen with 2.1.325:
//!
//! - Reminders (the environment, a hook's context, the long form of a block)
//!   reach newer models as messages of the role `system` after the user's, so
//!   what is new is not "the last message": see `Request::news`.
//! - The `Agent` tool runs in the background unless it is called with
//!   `"run_in_background": false`; then the main agent goes on at once, and gets a
//!   turn (and a Stop) more when the subagent is done.
//! - With `--json-schema`, an answer in prose is asked for once more, in the
//!   client's own name; the Stop that follows has `stop_hook_active: true` though
//!   no hook has blocked. A second answer in prose ends the run as a success
//!   without `structured_output`.
//! - `/compact` asks for a turn of the script, with all tools on offer.
//! - `CLAUDE_CODE_MAX_RETRIES=0` is set here: without it a 401, 429 or 5xx is tried
//!   again for minutes. A 400 is asked six times even so.
//! - In a terminal the permission mode would be `auto`, which asks a judge at the
//!   API for every call that no rule allows; the driver sets `default`.

mod ask;
mod driver;
mod hook;
mod world;

pub use ask::{Ask, Asked, Run};
pub use driver::Claude;
pub use hook::Hook;
