//! A review whose hook was killed, and the events until the next stop.

use alloc::vec;

use pretty_assertions::assert_eq;

use super::world::{World, session, stop};
use super::*;
use crate::event::{self, Author, Chain, EndReason, StartSource};

#[test]
fn a_killed_review_is_resumed_under_its_own_number() {
    let mut world = World::due(Kind::Code);
    let first = world.runs();
    world.effect_status = EffectStatus::Abandoned(first.clone());
    world.facts.written = vec![1];
    let second = world.runs();
    assert_eq!(second.effect.iteration, 1, "never skipped");
    assert_eq!(second.effect.resumes, [first.fence]);
    world.effect_status = EffectStatus::Abandoned(second.clone());
    assert_eq!(world.runs().effect.resumes, [first.fence, second.fence]);
    world.begin(1, 0);
    world.effect_status = EffectStatus::Abandoned(second);
    let fresh = world.runs().effect;
    assert_eq!(
        (fresh.iteration, fresh.resumes.len()),
        (2, 0),
        "somebody moved the plan"
    );
}

#[test]
fn a_killed_review_is_forgotten_by_no_other_event() {
    let person = Author::Person;
    let events = [
        ("s", event::Kind::Prompt { author: person }),
        ("t", event::Kind::Prompt { author: person }),
        ("t", stop(Chain::First)),
        (
            "s",
            event::Kind::SessionEnd {
                reason: EndReason::Other,
            },
        ),
        (
            "s",
            event::Kind::SessionStart {
                source: StartSource::Resume,
            },
        ),
    ];
    let mut world = World::due(Kind::Code);
    let first = world.runs();
    world.effect_status = EffectStatus::Abandoned(first.clone());
    for (who, kind) in events {
        world.event.session = Some(session(who));
        world.event.kind = kind;
        world.says();
    }
    world.event.session = Some(session("s"));
    world.event.kind = stop(Chain::First);
    let second = world.runs().effect;
    assert_eq!((second.iteration, second.resumes), (1, vec![first.fence]));
}

#[test]
fn a_killed_review_that_is_not_due_any_more_is_forgotten() {
    let mut world = World::due(Kind::Code);
    let first = world.runs();
    world.effect_status = EffectStatus::Abandoned(first);
    world.fields().next_phase = None;
    world.says();
    assert_eq!(world.effect_status, EffectStatus::Clear);
}
