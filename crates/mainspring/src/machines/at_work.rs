//! Which effects run now, for views.

use mainspring_kernel::at_work::AtWork;
use mainspring_kernel::machines::Pending;
use mainspring_kernel::{Name, Uptime};
use mainspring_store::{Trouble, read_json};

use crate::env::Environment;
use crate::machines::effect_owner;
use crate::store::ProjectStore;

/// Every effect that a live process runs in this project, in the machines' order.
pub(crate) fn all(env: &Environment, store: &ProjectStore) -> Result<Vec<AtWork>, Trouble> {
    by_life(env, store).map(|(running, _)| running)
}

/// The effects that a live process runs, and those whose process is gone or out of time.
pub(crate) fn by_life(
    env: &Environment,
    store: &ProjectStore,
) -> Result<(Vec<AtWork>, Vec<AtWork>), Trouble> {
    let now = env.uptime();
    let (mut running, mut interrupted) = (Vec::new(), Vec::new());
    for path in store.intents()? {
        // An intent that cannot be read is reported where its machine is loaded.
        let Ok(Some(pending)) = read_json::<Pending>(path).map(|found| found.value) else {
            continue;
        };
        let side = if runs(&pending, now) {
            &mut running
        } else {
            &mut interrupted
        };
        side.push(pending.at_work(now));
    }
    running.sort_by_key(|work: &AtWork| (work.machine, work.since));
    Ok((running, interrupted))
}

/// What a machine runs for one thing of several, such as a plan.
pub(crate) fn of(
    env: &Environment,
    store: &ProjectStore,
    machine: Name,
    subject: &str,
) -> Result<Option<AtWork>, Trouble> {
    let pending = store.intent(machine, subject)?.value;
    Ok(pending.and_then(|pending| look(&pending, env.uptime())))
}

fn look(pending: &Pending, now: Uptime) -> Option<AtWork> {
    runs(pending, now).then(|| pending.at_work(now))
}

/// Does a live process run it, within its deadline?
pub(crate) fn runs(pending: &Pending, now: Uptime) -> bool {
    pending.is_in_time(now) && effect_owner::is_alive(pending.owner())
}
