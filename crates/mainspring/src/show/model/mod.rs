//! What is going on, as structs that every view renders: `status`, `why`, `log`, `sessions`, the
//! status line and the page.

pub(crate) mod decision;
pub(crate) mod journal;
pub(crate) mod machine;
pub(crate) mod needs;
pub(crate) mod project;
pub(crate) mod words;
