//! A session starts in a repository with a project board: how many requests go to GitHub.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use super::super::count::is_here;
use super::super::race::Figures;
use super::{Curve, Lab, Measured, Series, Spawn, World};
use crate::github::{GitHub, bare_repo};

pub(super) const ITEMS: Curve = Curve {
    name: "board",
    title: "A session starts where a board has cards",
    axis: "cards on the board",
    about: "What the stand-in for GitHub was asked, and how long the start took with the real \
            `gh`, whose own start is most of it.",
    measure: |lab| {
        if !is_here("gh") || !is_here("git") {
            return Measured::default();
        }
        let mut requests = Vec::new();
        let mut median = Vec::new();
        for size in [10, 100, 300, 1_000] {
            let (count, figures) = start_with(lab, size);
            requests.push((size, count));
            median.push((size, figures.median_ms()));
        }
        Measured {
            series: vec![
                Series::new("requests", requests),
                Series::new("median, ms", median),
            ],
        }
    },
};

/// How many requests a start made, and how long starts took.
fn start_with(lab: &Lab<'_>, cards: u64) -> (f64, Figures) {
    let github = GitHub::start();
    let bare = bare_repo();
    let widgets = github.add_repository("acme", "widgets");
    widgets.follow(&bare.git_dir());
    let board = github.add_project("acme", 1);
    for number in 1..=cards {
        widgets.add_issue(number, &format!("Work number {number}"));
        let status = if number % 10 == 0 { "Todo" } else { "Done" };
        board.add_item(widgets, number, status);
    }
    let world = World::new(&lab.programs.mainspring);
    let project = world.project();
    std::fs::remove_dir_all(&project).expect("an empty project");
    bare.clone_as("https://github.com/acme/widgets.git", &project);
    world.person(&["trust", "--yes"]);
    let mut times = Vec::new();
    let mut requests = 0;
    for round in 0..lab.rounds.clamp(1, 10) {
        let event = world.event(
            "SessionStart",
            json!({ "source": "startup", "round": round }),
        );
        let mut spawn = Spawn::new(&lab.programs.mainspring, &["hook"], &event, &world);
        for (name, value) in github.env() {
            spawn = spawn.with(&name, &value);
        }
        let spawn = spawn
            .with("USER", "ada")
            .with("MOLTNET_PROJECT_NUMBER", "1");
        forget(&world);
        github.take_requests();
        let start = Instant::now();
        let said = spawn.said();
        times.push(start.elapsed().max(Duration::from_nanos(1)));
        requests = github.take_requests().len();
        assert!(
            said.contains("Work number 10"),
            "the board is not in {said:?}"
        );
    }
    #[expect(clippy::cast_precision_loss, reason = "a few requests")]
    let count = requests as f64;
    (count, Figures::of(times))
}

/// The ledger would recognize the same start.
fn forget(world: &World) {
    let projects = world.home().join(".local/state/mainspring/projects");
    if Path::new(&projects).exists() {
        let _ = std::fs::remove_file(world.state().join("sessions/s.json"));
    }
}
