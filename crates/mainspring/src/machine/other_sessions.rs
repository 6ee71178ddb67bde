//! Finds other sessions that are at work in this project.

use mainspring_kernel::machines::looping::OtherSessions;

use crate::event_context::EventContext;
use crate::sessions;

pub(crate) fn of(context: &EventContext<'_>) -> OtherSessions {
    let Some(session) = context.session() else {
        return OtherSessions::Alone;
    };
    let here = context.live_here();
    if sessions::has_rivals(context.env, &here, &session, context.is_attended()) {
        OtherSessions::Several
    } else {
        OtherSessions::Alone
    }
}
