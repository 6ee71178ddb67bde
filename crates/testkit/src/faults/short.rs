//! Short reads and writes of files, which then continue: the kernel may do that, and network file
//! systems do. strace cannot inject them: if it changes a result, the call was never made.

use super::check;
use super::lab::{Lab, Ran, Subject, without_digits};
use super::paths::Path;
use super::sweep::{Depth, Tally};
use super::tracer::{self, Call, Cut};

pub(super) fn sweep(subject: &Subject, path: &Path, depth: Depth) -> Tally {
    let mut tally = Tally::default();
    if path.has_children && depth == Depth::Quick {
        return tally;
    }
    let lab = Lab::new(subject, path);
    let (ran, calls) = run(&lab, Cut::Nothing);
    if let Err(problem) = check::answered(path, &ran) {
        tally.add(format!("{}: only watched", path.name), Err(problem));
        return tally;
    }
    if depth == Depth::Full {
        for (number, call) in calls.iter().enumerate() {
            for bytes in call.less() {
                if subject.satisfied_by(&tally) {
                    return tally;
                }
                let at = format!("{}: {bytes} of {call}", path.name);
                let cut = Cut::One { number, bytes };
                tally.add(at, point(&lab, cut));
            }
        }
    }
    let bytes = match depth {
        // Every byte is a call, and every call costs two switches to the tracer.
        Depth::Quick => 16,
        Depth::Full => 1,
    };
    if calls.iter().any(|call| call.has_more_than(bytes)) {
        let at = format!("{}: all of them, {bytes} at a time", path.name);
        tally.add(at, point(&lab, Cut::All { bytes }));
    }
    tally
}

/// Runs the path with short calls only. Returns what it did with files.
fn run(lab: &Lab<'_>, cut: Cut) -> (Ran, Vec<Call>) {
    lab.reset();
    tracer::run(lab.command(&tracer::STARTER).stdin(lab.stdin()), cut)
}

/// It must make no difference: the same answer, and the same state.
fn point(lab: &Lab<'_>, cut: Cut) -> Result<(), String> {
    let ran = fired(lab, cut)?;
    check::answered(lab.path, &ran)?;
    let said = |ran: &Ran| (ran.code, without_digits(&ran.stdout));
    if said(&ran) != said(&lab.healthy) {
        return Err(format!(
            "it says something else: {}{}\n  not {}",
            ran.stdout, ran.stderr, lab.healthy.stdout
        ));
    }
    let mark = lab.mark();
    if mark != lab.new {
        return Err(format!("the state is {mark:?}, not {:?}", lab.new));
    }
    lab.check(&ran)
}

fn fired(lab: &Lab<'_>, cut: Cut) -> Result<Ran, String> {
    for _ in 0..lab.tries() {
        let (ran, calls) = run(lab, cut);
        check::ended(&ran)?;
        if calls.iter().any(Call::was_cut) {
            return Ok(ran);
        }
    }
    Err("the fault did not fire".into())
}
