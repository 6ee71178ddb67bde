//! What an entry of the journal says about the machines.

use mainspring_kernel::deliberate::Ruling;
use mainspring_kernel::journal::Entry;
use mainspring_kernel::machines::Moved;
use mainspring_store::Trouble;

/// The rule that the first machine took, if the turn has ended.
pub(super) fn rule(entry: &Entry) -> String {
    if let Entry::Turn { ruling, .. } = entry
        && let Ruling::Settled(settlement) = &**ruling
        && let Some(moved) = settlement.transitions.first()
    {
        return moved.rule().to_owned();
    }
    String::new()
}

/// The transitions that change something.
pub(super) fn moves(entry: &Entry) -> Result<Vec<Moved<'_>>, Trouble> {
    let mut moves = Vec::new();
    if let Entry::Turn { case, ruling } = entry
        && let Ruling::Settled(settlement) = &**ruling
    {
        for (input, transition) in case.inputs.iter().zip(&settlement.transitions) {
            let moved = Moved::pair(input, transition).ok_or_else(|| {
                let (asked, answered) = (input.name(), transition.name());
                Trouble::Other(format!("internal: {answered} answered for {asked}"))
            })?;
            if moved.is_change() {
                moves.push(moved);
            }
        }
    }
    Ok(moves)
}
