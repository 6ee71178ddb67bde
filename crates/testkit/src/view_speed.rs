//! How long the page takes to load with many records, and to show a new decision.

use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use crate::bench::Programs;
use crate::browser::Browser;
use crate::pictures::stage::Stage;
use crate::view::View;

const PROJECTS: [&str; 4] = ["one", "two", "three", "four"];

/// Measure the page: loading it with many records, and showing a new decision
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How many records
    #[arg(long, default_value_t = 10_000)]
    records: usize,
    /// How many new decisions
    #[arg(long, default_value_t = 20)]
    decisions: usize,
    /// The folder with a built `mainspring`; builds nothing
    #[arg(long, value_name = "FOLDER")]
    built: Option<PathBuf>,
}

#[expect(clippy::print_stdout, reason = "it is a report")]
pub fn run(args: &Args) -> ExitCode {
    let mainspring = match &args.built {
        Some(folder) => folder
            .join("mainspring")
            .canonicalize()
            .expect("it is built"),
        None => Programs::build().mainspring,
    };
    let stage = Stage::new(&mainspring);
    for project in PROJECTS {
        stage.person(project, &["gate", "on", "--project"]);
    }
    thread::scope(|threads| {
        for project in PROJECTS {
            let stage = &stage;
            let each = args.records / PROJECTS.len();
            threads.spawn(move || (0..each).for_each(|n| stage.stop(project, &format!("{n}"))));
        }
    });
    let view = View::start(&mut stage.command("one"));
    for (name, page) in [
        ("the first page, nothing read yet", ""),
        ("the first page again", ""),
        ("the timeline", "timeline"),
        ("the timeline, filtered", "timeline?text=block"),
    ] {
        let began = Instant::now();
        let answer = view.get(page);
        let took = began.elapsed();
        assert_eq!(answer.status, 200);
        println!("{name}: {took:.0?}, {} KB", answer.body.len() / 1_000);
    }
    let browser = Browser::start().expect("a browser");
    let fresh = View::start(&mut stage.command("one"));
    browser.open(&format!("{}timeline", fresh.address));
    let loaded = "return Math.round(performance.getEntriesByType('navigation')[0].loadEventEnd)";
    println!(
        "in the browser, nothing read yet: {} ms",
        browser.script(loaded)
    );
    println!(
        "{}",
        browser
            .text()
            .lines()
            .find(|line| line.contains("decisions"))
            .unwrap_or("")
    );
    let times = new_decisions(&stage, &browser, args.decisions);
    println!(
        "a new decision shows after {:.0?} (median), {:.0?} (slowest of {})",
        times[times.len() / 2],
        times[times.len() - 1],
        times.len()
    );
    ExitCode::SUCCESS
}

/// From the end of the hook until the row is in the page, sorted.
fn new_decisions(stage: &Stage, browser: &Browser, count: usize) -> Vec<Duration> {
    browser.wait("document.getElementById('live').dataset.state === 'on'");
    browser.script(
        "window.shown = [];
        new MutationObserver(() => window.shown.push(performance.timeOrigin + performance.now()))
            .observe(document.getElementById('main'), { childList: true });",
    );
    let mut times = Vec::new();
    for round in 1..=count {
        stage.stop("one", &format!("new {round}"));
        let ended = std::time::SystemTime::now();
        browser.wait(&format!("window.shown.length >= {round}"));
        let shown = browser.script(&format!("return window.shown[{}]", round - 1));
        let shown = Duration::from_secs_f64(shown.as_f64().expect("a time") / 1_000.0);
        let ended = ended
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default();
        times.push(shown.saturating_sub(ended));
    }
    times.sort_unstable();
    times
}
