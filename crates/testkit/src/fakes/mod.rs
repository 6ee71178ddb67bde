//! Scripted stand-ins for `claude`, `gh` and other programs, as real executables.
//!
//! ```no_run
//! use mainspring_testkit::fakes::{Fake, Fakes};
//!
//! let fakes = Fakes::install([
//!     Fake::of("gh").called_with(["pr", "create"]).once().prints("https://github.com/o/r/pull/7\n"),
//!     Fake::of("gh").called_with(["pr", "create"]).prints_error("already exists\n").exits(1),
//!     Fake::of("claude")
//!         .told("Review the plan")
//!         .writes("review-1.md", "looks good")
//!         .prints(r#"{"structured_output":{"verdict":"PASS"}}"#),
//! ]);
//! // … run something with `fakes.folder()` first on its PATH …
//! assert_eq!(fakes.calls_of("gh").len(), 1);
//! ```
//!
//! The first rule that fits is played, once its uses are up the next one. A call
//! that no rule is for exits with 97 and says so; every call is kept to the
//! byte. A fake needs nothing from the environment, so the caller may clear it.

mod call;
mod folder;
mod player;
mod scenario;

pub use call::{Call, Played, Stdin};
pub use folder::Fakes;
pub use player::play;
pub use scenario::Fake;
