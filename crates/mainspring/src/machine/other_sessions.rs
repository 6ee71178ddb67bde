//! Finds other sessions that are at work in this project.

use mainspring_kernel::machines::looping::OtherSessions;

use crate::event_context::EventContext;
use crate::sessions;

pub(crate) fn of(context: &EventContext<'_>) -> OtherSessions {
    let Some(session) = context.session() else {
        return OtherSessions::Alone;
    };
    let state = context.store.state();
    let rivals = sessions::rivals(
        context.env,
        state,
        context.root(),
        &session,
        context.is_attended(),
    );
    if rivals.is_empty() {
        OtherSessions::Alone
    } else {
        OtherSessions::Several
    }
}
