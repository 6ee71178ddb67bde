//! Several of our registrations may apply to one event: a person's own settings, settings that a
//! project shares, the plugin. One of them answers: the person's own before the shared ones,
//! and those before the plugin.

use std::path::Path;

use super::{SPEC, name, settings};
use crate::env::Environment;
use crate::hosts::install::{Calls, Scope};
use crate::hosts::{CalledBy, Payload};
use crate::limits;
use crate::people::own_files::{self, Check, OwnFile};

/// Does a registration that comes before this one answer the event?
pub(super) fn outranked(env: &Environment, payload: &Payload, by: CalledBy) -> bool {
    let is_plugins = env.var_os(name::PLUGIN).is_some();
    if by == CalledBy::Name && !is_plugins || !SPEC.is_sender(env, payload.event.session.as_ref()) {
        return false;
    }
    // Without it, the client's settings of the project cannot be found: only the person's count.
    let project = env.dir(name::PROJECT);
    let answers = |scope: Scope, calls: Calls| {
        let root = match (scope, &project) {
            (Scope::User, _) => Path::new(""),
            (_, Some(project)) => project,
            (_, None) => return false,
        };
        SPEC.settings_file(scope, env, root)
            .is_some_and(|path| registers(env, &path, &payload.wire_name, calls))
    };
    let own = || answers(Scope::User, Calls::Hook) || answers(Scope::Local, Calls::Hook);
    match by {
        CalledBy::SharedSettings => own(),
        CalledBy::Name => own() || answers(Scope::Project, Calls::SharedHook),
    }
}

/// Does this settings file call us like this at the event?
fn registers(env: &Environment, path: &Path, event: &str, calls: Calls) -> bool {
    let Ok(OwnFile::Read(bytes)) = own_files::read(env, path, limits::CONFIG, Check::Links) else {
        return false;
    };
    let text = String::from_utf8_lossy(&bytes);
    // Most files do not name us, and need not be parsed.
    text.contains("mainspring") && settings::calls_at(&text, event, calls)
}
