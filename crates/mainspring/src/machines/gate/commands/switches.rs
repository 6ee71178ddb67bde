//! The gate has a switch for the project and one for each session. Whoever turns one of them reads
//! what the other one says, and the command that turns it.

use mainspring_kernel::machines::gate::verbs::Switch;
use mainspring_kernel::verbs::Actor;

use crate::command::Result;
use crate::context::EventContext;
use crate::machines::gate::switch::Switches;
use crate::people::which_session;

/// More sessions need not be named.
const MOST_NAMED: usize = 5;

/// For a person who switches a session off: new sessions are held all the same.
pub(super) fn of_project(context: &EventContext<'_>, to: Switch) -> Result {
    let (project, _) = super::everyone(context)?;
    Ok(match (to, project, context.env.actor()) {
        (Switch::Off, Switch::On, Actor::Person) => {
            "; still on for the project (`mainspring gate off --project`)".into()
        }
        _ => String::new(),
    })
}

/// For a person who switches the project: the live sessions that do not follow it.
pub(super) fn of_sessions(context: &EventContext<'_>, to: Switch) -> Result {
    let mut out = String::new();
    let here = which_session::here(context.env, &context.store).into_iter();
    for (session, _) in here.take(MOST_NAMED) {
        let own = Switches::read(context, &session.id)?.session.switch;
        if let Some(own) = own.filter(|own| *own != to) {
            let (id, own, to) = (session.id, own.as_str(), to.as_str());
            out +=
                &format!("; still {own} for session {id} (`mainspring gate {to} --session {id}`)");
        }
    }
    Ok(out)
}

/// The command that switches off what holds this view's session.
pub(crate) fn off_command(context: &EventContext<'_>) -> String {
    let session = context.session();
    let own = session.filter(|id| {
        let switches = Switches::read(context, id);
        switches.is_ok_and(|switches| switches.session.switch == Some(Switch::On))
    });
    match own {
        Some(id) => format!("`mainspring gate off --session {id}`"),
        None => "`mainspring gate off --project`".into(),
    }
}
