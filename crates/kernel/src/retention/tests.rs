use alloc::vec;

use super::*;

const NOW: Millis = Millis(1_000 * DAY.0);

fn rules() -> Rules {
    Rules::new(NOW, days(90))
}

fn days(count: u64) -> Millis {
    Millis(count * DAY.0)
}

fn ago(count: u64) -> Millis {
    NOW.since(days(count))
}

#[test]
fn old_is_longer_ago_than_the_setting_says() {
    assert!(!rules().is_old(ago(90)));
    assert!(rules().is_old(Millis(ago(90).0 - 1)));
    assert!(!rules().is_old(NOW.plus(DAY)), "a clock that went back");
}

#[test]
fn no_setting_deletes_what_was_made_today() {
    let rules = Rules::new(NOW, Millis(0));
    assert!(!rules.is_old(ago(1)));
    assert!(rules.is_old(ago(2)));
}

#[test]
fn a_sweep_is_due_once_a_day() {
    for (swept, due) in [
        (None, true),
        (Some(NOW), false),
        (Some(Millis(ago(1).0 + 1)), false),
        (Some(ago(1)), true),
        (Some(NOW.plus(DAY)), false),
        (Some(NOW.plus(days(2))), true),
    ] {
        assert_eq!(is_due(swept, NOW), due, "{swept:?}");
    }
}

#[test]
fn an_old_session_goes_unless_it_is_open() {
    let closed = Session {
        changed: ago(91),
        gate_on: false,
        owns: false,
        starts: false,
    };
    assert!(rules().sweeps_session(&closed));
    for kept in [
        Session {
            changed: ago(89),
            ..closed
        },
        Session {
            gate_on: true,
            ..closed
        },
        Session {
            owns: true,
            ..closed
        },
        Session {
            starts: true,
            ..closed
        },
    ] {
        assert!(!rules().sweeps_session(&kept), "{kept:?}");
    }
}

fn everything_open() -> Vec<Open> {
    vec![
        Open::Trust,
        Open::Effect("review".into()),
        Open::Interrupted("claim".into()),
        Open::Loop,
        Open::Gate,
        Open::SessionGate("s".into()),
        Open::Order,
        Open::Unreadable("loop.json".into()),
    ]
}

#[test]
fn a_project_goes_when_its_folder_is_gone_for_long_and_nothing_is_open() {
    let gone = Project {
        folder: Folder::Gone,
        changed: ago(91),
        open: vec![],
    };
    assert!(rules().sweeps_project(&gone));
    let mut kept = vec![Project {
        changed: ago(89),
        ..gone.clone()
    }];
    for folder in [Folder::There, Folder::Unknown] {
        kept.push(Project {
            folder,
            ..gone.clone()
        });
    }
    for open in everything_open() {
        kept.push(Project {
            open: vec![open],
            ..gone.clone()
        });
    }
    for kept in kept {
        assert!(!rules().sweeps_project(&kept), "{kept:?}");
    }
}

#[test]
fn a_person_ends_what_is_open_first_or_has_no_folder_to_do_it_in() {
    let project = |folder| Project {
        folder,
        changed: NOW,
        open: everything_open(),
    };
    let there = project(Folder::There);
    assert!(there.is_trusted());
    assert_eq!(there.obstacles().count(), everything_open().len() - 1);
    assert!(there.obstacles().all(|open| *open != Open::Trust));
    let gone = project(Folder::Gone);
    let left: Vec<&Open> = gone.obstacles().collect();
    assert_eq!(left, [&Open::Effect("review".into())]);
}

fn segment(project: usize, age: u64, bytes: u64) -> Segment {
    Segment {
        project,
        changed: ago(age),
        bytes,
    }
}

#[test]
fn old_segments_go_and_the_newest_of_each_project_stays() {
    let segments = [
        segment(0, 300, 1),
        segment(0, 200, 1),
        segment(0, 10, 1),
        segment(1, 400, 1),
        segment(2, 100, 1),
        segment(2, 95, 1),
    ];
    assert_eq!(rules().swept_segments(&segments, 0), [0, 1, 4]);
    assert!(rules().swept_segments(&[], 0).is_empty());
}

#[test]
fn the_oldest_segments_of_all_projects_go_until_the_rest_is_small_enough() {
    const MIB: u64 = 1 << 20;
    let segments = [
        segment(0, 30, 4 * MIB),
        segment(0, 9, 4 * MIB),
        segment(0, 1, 4 * MIB),
        segment(1, 20, 4 * MIB),
        segment(1, 2, 4 * MIB),
    ];
    assert_eq!(rules().swept_segments(&segments, 0), [0, 3]);
    // The current ones count, too, and never go.
    assert_eq!(rules().swept_segments(&segments, MIB), [0, 3, 1]);
    let alone = [segment(0, 1, 2 * JOURNALS)];
    assert!(rules().swept_segments(&alone, 0).is_empty());
}

#[test]
fn a_segment_never_goes_before_an_older_one_of_its_project() {
    // The first was copied, and looks younger than it is.
    let segments = [segment(0, 5, 1), segment(0, 300, 1), segment(0, 1, 1)];
    assert!(rules().swept_segments(&segments, 0).is_empty());
}

#[test]
fn everything_that_is_open_says_how_it_ends() {
    for open in everything_open() {
        assert!(
            !open.what().is_empty() && !open.end().is_empty(),
            "{open:?}"
        );
    }
}

#[test]
fn what_says_that_a_session_is_live_goes_a_day_after_the_session() {
    let rules = Rules::new(Millis(10 * DAY.0), Millis(30 * DAY.0));
    let yesterday = Millis(9 * DAY.0 - 1);
    assert!(rules.sweeps_presence(yesterday, false));
    assert!(!rules.sweeps_presence(yesterday, true), "it is still there");
    assert!(!rules.sweeps_presence(Millis(9 * DAY.0), false), "not yet");
}
