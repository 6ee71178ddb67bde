//! Reads a file of a tree while there is time, and while nobody has stopped the checks: a file
//! may be larger than anybody wants to wait for.

use std::io::{self, Read};
use std::time::Instant;

use crate::children::permit::GLANCE;
use crate::git::Git;

pub(super) struct Patient<'a, R> {
    from: R,
    /// The deadline and the permission of everything that is asked about the tree.
    git: &'a Git,
    glanced: Instant,
}

impl<'a, R: Read> Patient<'a, R> {
    pub(super) fn new(from: R, git: &'a Git) -> Self {
        Self {
            from,
            git,
            glanced: Instant::now(),
        }
    }
}

impl<R: Read> Read for Patient<'_, R> {
    fn read(&mut self, chunk: &mut [u8]) -> io::Result<usize> {
        if self.glanced.elapsed() >= GLANCE {
            self.git.may_go_on().map_err(io::Error::other)?;
            self.glanced = Instant::now();
        }
        self.from.read(chunk)
    }
}
