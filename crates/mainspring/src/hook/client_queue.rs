//! The orders that a person types while the agent is at work. They wait in the client's queue, and
//! the client's transcript shows them, if it is a client that writes them down.

use mainspring_kernel::Millis;
use mainspring_kernel::client_queue::{QueueLine, Typed, typed, waited};
use mainspring_kernel::journal::Entry;
use mainspring_kernel::orders::{Given, Order, due};
use mainspring_store::{Locked, Trouble};

use crate::context::EventContext;
use crate::people::orders::{self, Recorded};

/// Carries out the orders that wait, each with a record of its own, as its command does.
pub(crate) fn carry_out(
    context: &EventContext<'_>,
    lock: Option<&mut Locked<'_>>,
) -> Result<(), Trouble> {
    let Some(lock) = lock else { return Ok(()) };
    for order in orders_due(context) {
        let now = context.env.later();
        let recorded = Recorded::load(&context.store)?;
        let orders = recorded.orders.clone().after(order, now);
        let entry = Entry::Verb {
            command: orders::command(order),
            machine: orders::machine_of(order),
            session: context.session(),
            did: orders::effect(order, now),
        };
        lock.commit(now, entry, vec![recorded.change(&orders)?])?;
    }
    Ok(())
}

/// The orders that wait and have not been carried out. Only what was written since our last hold is
/// read: what was there then has been looked at.
fn orders_due(context: &EventContext<'_>) -> Vec<Order> {
    let since = context.last_mark().map_or(0, |mark| mark.size);
    let now = context.env.later();
    let given = |typed: Typed| {
        let order = orders::typed(&typed.text)?.ok()?;
        let at = typed.at.unwrap_or(now);
        Some(Given { order, at })
    };
    let waiting: Vec<Given> = typed(lines(context, since))
        .into_iter()
        .filter_map(given)
        .collect();
    match waiting.first() {
        Some(oldest) => due(&waiting, &orders::given_since(&context.store, oldest.at)),
        None => Vec::new(),
    }
}

/// When the person typed this, if it waited in the queue until now.
pub(crate) fn typed_at(context: &EventContext<'_>, text: &str) -> Option<Millis> {
    waited(lines(context, 0), text, context.env.later())
}

fn lines(context: &EventContext<'_>, since: u64) -> Vec<QueueLine> {
    let Some(read) = context.host().transcript.queue else {
        return Vec::new();
    };
    let transcript = context.transcript();
    transcript.map_or_else(Vec::new, |lines| lines.of_queue(since, read))
}
