//! Mainspring's decisions, and nothing else.
//!
//! No clock, no files, no environment: the crate is `no_std`, so the compiler keeps
//! that promise. What happened comes in as data ([`Event`], [`Case`]), what to do goes
//! out as data ([`Answer`], effects), and the same case always gives the same answer.
//!
//! Reading order: [`event`] and [`decision`] are what comes in and what goes out; [`machine`] says
//! what a state machine is; [`machines`] contains all of them; [`deliberate`] runs them on one
//! event and joins what they say; [`turn`] is the protocol around it (lock, load, commit, effect,
//! answer) that the shell, the simulator and the model checker interpret; [`journal`] is the record
//! of a turn, and [`reduce`] says what it leaves out.
#![no_std]

extern crate alloc;

pub mod at_work;
pub mod authority;
pub mod block_ledger;
pub mod client_queue;
pub mod data;
pub mod decision;
pub mod deliberate;
pub mod effect;
pub mod event;
pub mod hidden;
pub mod ids;
pub mod journal;
pub mod machine;
pub mod machines;
pub mod name;
pub mod notices;
pub mod orders;
pub mod receipt;
pub mod reduce;
pub mod retention;
pub mod spoken_signal;
pub mod turn;
pub mod verbs;

pub use decision::{Answer, Decision, HoldTexts, Note, Voice};
pub use deliberate::{Case, Ruling, deliberate};
pub use event::{Event, Kind};
pub use ids::{Digest, Millis, SessionId, Uptime};
pub use machine::Machine;
pub use machines::MachineInput;
pub use name::Name;
pub use orders::Orders;
pub use turn::{Ask, Reply, Turn};
