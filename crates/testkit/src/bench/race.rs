//! Interleaved starts: every round starts every entry once, so that a busy moment of the
//! machine hits all of them alike.

use std::time::Duration;

use super::spawn::Spawn;

/// Rounds that warm the caches and are not counted.
const WARM_UP: usize = 20;

/// One that is timed, and what puts its world back before each start.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) spawn: &'a Spawn,
    pub(super) reset: &'a dyn Fn(),
}

/// An entry's times in one line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Figures {
    pub(super) median: Duration,
    pub(super) p99: Duration,
}

impl Figures {
    pub(super) fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)];
        Self {
            median: at(50),
            p99: at(99),
        }
    }

    pub(super) fn median_ms(self) -> f64 {
        millis(self.median)
    }

    pub(super) fn p99_ms(self) -> f64 {
        millis(self.p99)
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// What a race came to.
#[derive(Debug)]
pub(super) struct Raced {
    pub(super) floor: Figures,
    pub(super) entries: Vec<Figures>,
}

pub(super) fn race(floor: &Spawn, entries: &[Entry<'_>], rounds: usize) -> Raced {
    let rounds = rounds.max(1);
    let mut floor_times = Vec::with_capacity(rounds);
    let mut times = vec![Vec::with_capacity(rounds); entries.len()];
    for round in 0..WARM_UP.min(rounds) + rounds {
        let warm = round >= WARM_UP.min(rounds);
        let floor_time = floor.time();
        if warm {
            floor_times.push(floor_time);
        }
        // Another one is first each time: what runs behind the small floor pays for both.
        for step in 0..entries.len() {
            let at = (round + step) % entries.len();
            (entries[at].reset)();
            let time = entries[at].spawn.time();
            if warm {
                times[at].push(time);
            }
        }
    }
    Raced {
        floor: Figures::of(floor_times),
        entries: times.into_iter().map(Figures::of).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_and_the_worst_of_a_hundred() {
        let times = (1..=200).rev().map(Duration::from_millis).collect();
        let figures = Figures::of(times);
        assert_eq!(figures.median, Duration::from_millis(101));
        assert_eq!(figures.p99, Duration::from_millis(199));
    }

    #[test]
    fn one_time_is_its_own_median() {
        let figures = Figures::of(vec![Duration::from_millis(3)]);
        assert_eq!((figures.median_ms(), figures.p99_ms()), (3.0, 3.0));
    }
}
