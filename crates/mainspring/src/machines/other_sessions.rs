//! How this session stands among those that are at work in its project.

use mainspring_kernel::machines::looping::OtherSessions;

use crate::context::EventContext;
use crate::people::sessions::{self, Attendance};

/// What a person gave to nobody may be for this session, unless it is a helper's. Looks at every
/// live session.
pub(crate) fn of(context: &EventContext<'_>) -> OtherSessions {
    let (Some(_), Some(session)) = (context.payload(), context.session()) else {
        return OtherSessions::Alone;
    };
    if attendance(context) == Attendance::Helper {
        return OtherSessions::Helper;
    }
    let here = context.live_here();
    if sessions::has_rivals(context.env, &here, &session, context.is_attended()) {
        OtherSessions::Several
    } else {
        OtherSessions::Alone
    }
}

/// Why this session is not for what a person gave to nobody: nobody attends it.
pub(crate) fn unattended(context: &EventContext<'_>) -> Option<OtherSessions> {
    context.payload()?;
    match attendance(context) {
        Attendance::Attended => None,
        Attendance::Headless => Some(OtherSessions::Headless),
        Attendance::Helper => Some(OtherSessions::Helper),
    }
}

fn attendance(context: &EventContext<'_>) -> Attendance {
    sessions::attendance(context.env, context.is_attended())
}
