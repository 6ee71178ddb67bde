//! A scripted model on loopback that real clients talk to, each by its own API.
//!
//! ```no_run
//! use mainspring_testkit::model::{Model, Script, Turn};
//! use serde_json::json;
//!
//! let model = Model::play(
//!     Script::new([
//!         Turn::call("Bash", json!({"command": "cargo test"})),
//!         Turn::say("All green."),
//!     ])
//!     // Whoever runs as opus is another conversation: the reviewer.
//!     .for_model("opus", [Turn::structured(json!({"verdict": "PASS"}))]),
//! );
//! assert!(model.url().starts_with("http://127.0.0.1:"));
//! ```
//!
//! Each turn answers one request. The client's own errands (a title for the
//! session, a quota check, `count_tokens`) are answered without consuming a turn.
//! Every request is kept: [`Model::requests`], [`Model::saw_text`], and
//! [`Model::assert_played_out`] for a script that must be followed to its end.

mod request;
mod script;
mod server;
mod turn;
mod wire;

pub use request::{Purpose, Request};
pub use script::Script;
pub use server::Model;
pub use turn::{Cue, Turn};
pub use wire::Wire;
