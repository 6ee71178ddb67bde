//! The person: whom they trust, what they ordered, which sessions are theirs.

pub(crate) mod ask;
pub(crate) mod brake;
pub(crate) mod last_word;
pub(crate) mod orders;
pub(crate) mod own_files;
pub(crate) mod ownership;
pub(crate) mod sessions;
pub(crate) mod told;
pub(crate) mod trust;
pub(crate) mod trust_command;
pub(crate) mod which_session;
