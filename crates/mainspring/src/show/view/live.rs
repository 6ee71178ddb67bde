//! Tells open pages that something changed. Each page holds one connection, on which its version is
//! sent when it becomes another. Nothing runs while no page is open.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io::{self, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, UNIX_EPOCH};

use super::http;
use super::site::Site;
use crate::markers;
use crate::people::sessions;

/// How often the files are looked at while a page is open.
const GLANCE: Duration = Duration::from_millis(200);
/// How often a line is sent although nothing changed, to notice a page that was closed.
const PULSE: Duration = Duration::from_secs(10);
/// How many entries of one folder are looked at.
const ENTRIES: usize = 10_000;

/// The version, as it was seen last. However many pages ask, the files are looked at once in a
/// while.
#[derive(Debug, Default)]
pub(super) struct Polled(Mutex<Option<(Instant, String)>>);

impl Polled {
    fn at(&self, now: Instant, look: impl FnOnce() -> String) -> String {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((at, version)) if now.saturating_duration_since(*at) < GLANCE => version.clone(),
            _ => last.insert((now, look())).1.clone(),
        }
    }
}

/// The version that pages have now. One that is a moment old is no harm: the next one follows.
pub(super) fn version(site: &Site) -> String {
    site.version.at(Instant::now(), || look(site))
}

/// What the pages are made from, as a number: it differs when a file was written, made or deleted.
fn look(site: &Site) -> String {
    let mut hasher = DefaultHasher::new();
    let state = &site.state;
    for folder in [state.root().to_owned(), state.trusted(), state.live()] {
        hash_folder(&folder, &mut hasher);
    }
    for project in site.projects() {
        hash_folder(&project.dir, &mut hasher);
        hash_folder(&project.dir.join("sessions"), &mut hasher);
        for marker in markers::all() {
            hash_file(&project.root.join(marker), &mut hasher);
        }
        hash_file(
            &project.root.join(crate::people::orders::OFF_FILE),
            &mut hasher,
        );
    }
    // A client that was killed leaves its file.
    for session in sessions::live(&site.env.afresh(), state) {
        session.id.hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}

fn hash_folder(folder: &Path, hasher: &mut DefaultHasher) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries
        .take(ENTRIES)
        .map(|entry| entry.file_name())
        .collect();
    names.sort_unstable();
    for name in names {
        hash_file(&folder.join(name), hasher);
    }
}

fn hash_file(path: &Path, hasher: &mut DefaultHasher) {
    let Ok(meta) = fs::symlink_metadata(path) else {
        return;
    };
    let changed = meta.modified().ok();
    let changed = changed.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    path.hash(hasher);
    (meta.len(), changed).hash(hasher);
}

/// Sends versions until the page is closed.
pub(super) fn stream(site: &Site, stream: &mut TcpStream) -> io::Result<()> {
    http::begin_events(stream)?;
    let mut sent = String::new();
    let mut last = Instant::now();
    loop {
        let version = version(site);
        if version != sent {
            stream.write_all(format!("event: change\ndata: {version}\n\n").as_bytes())?;
            sent = version;
            last = Instant::now();
        } else if last.elapsed() > PULSE {
            stream.write_all(b": still here\n\n")?;
            last = Instant::now();
        }
        stream.flush()?;
        std::thread::sleep(GLANCE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_many_pages_are_open_the_files_are_looked_at_once_in_a_while() {
        let (polled, start) = (Polled::default(), Instant::now());
        let mut looks = 0;
        for page in 0..64 {
            let now = start + GLANCE * page / 64;
            polled.at(now, || {
                looks += 1;
                looks.to_string()
            });
        }
        assert_eq!(looks, 1);
        assert_eq!(polled.at(start + GLANCE, || "later".into()), "later");
    }
}
