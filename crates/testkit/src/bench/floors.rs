//! What the disk itself costs, in the folder of the worlds: no durable program can be faster.

use std::fs::{self, File};
use std::io::Write;
use std::time::{Duration, Instant};

use super::race::Figures;

/// What one `fdatasync` of a record's size costs.
pub(super) fn sync(rounds: usize) -> Figures {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mut file = File::create(dir.path().join("journal")).expect("a file in it");
    let line = [b'x'; 1024];
    let times = (0..rounds.max(1)).map(|_| {
        file.write_all(&line).expect("room for a line");
        timed(|| file.sync_data().expect("a disk that syncs"))
    });
    Figures::of(times.collect())
}

/// The cost of creating that many small files by temp file and rename, in an empty folder.
pub(super) fn files(count: usize, rounds: usize) -> Figures {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let content = [b'x'; 256];
    let times = (0..rounds.max(1)).map(|round| {
        let folder = dir.path().join(round.to_string());
        fs::create_dir(&folder).expect("a folder in it");
        let time = timed(|| {
            for number in 0..count {
                let temporary = folder.join(format!(".{number}.new"));
                fs::write(&temporary, content).expect("room for a file");
                let place = folder.join(format!("{number}.json"));
                fs::rename(&temporary, place).expect("a file of ours");
            }
        });
        fs::remove_dir_all(&folder).expect("a folder of ours");
        time
    });
    Figures::of(times.collect())
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}
