//! Interleaved starts: every round starts every entry once, so that a busy moment of the machine
//! affects all of them alike.

use std::time::Duration;

use super::spawn::Spawn;

/// Rounds that warm the caches and do not count.
const WARM_UP: usize = 20;

/// A program that is timed, and what restores its world before each start.
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

/// The results of a race.
#[derive(Debug)]
pub(super) struct Raced {
    pub(super) floor: Figures,
    pub(super) entries: Vec<Figures>,
}

pub(super) fn race(floor: &Spawn, entries: &[Entry<'_>], rounds: usize) -> Raced {
    let rounds = rounds.max(1);
    let mut runners = vec![Entry {
        spawn: floor,
        reset: &|| {},
    }];
    runners.extend(entries);
    let mut times = vec![Vec::with_capacity(rounds); runners.len()];
    let mut order: Vec<usize> = (0..runners.len()).collect();
    let mut deck = Deck(0);
    for round in 0..WARM_UP.min(rounds) + rounds {
        // An entry after a large program finds cold caches, so the order changes in every round.
        deck.shuffle(&mut order);
        for &at in &order {
            (runners[at].reset)();
            let time = runners[at].spawn.time();
            if round >= WARM_UP.min(rounds) {
                times[at].push(time);
            }
        }
    }
    let mut figures = times.into_iter().map(Figures::of);
    Raced {
        floor: figures.next().expect("the floor is the first"),
        entries: figures.collect(),
    }
}

/// The same orders in every run.
struct Deck(u64);

impl Deck {
    fn shuffle(&mut self, order: &mut [usize]) {
        for last in (1..order.len()).rev() {
            order.swap(last, self.below(last + 1));
        }
    }

    /// Knuth's generator; its upper bits are the good ones.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % end
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
    fn everybody_runs_in_every_round_and_nobody_always_behind_the_same() {
        let mut deck = Deck(0);
        let mut order: Vec<usize> = (0..8).collect();
        let mut before_the_last = [0; 8];
        for _ in 0..800 {
            deck.shuffle(&mut order);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..8).collect::<Vec<_>>());
            before_the_last[order[6]] += 1;
        }
        assert!(
            before_the_last
                .iter()
                .all(|times| (60..140).contains(times)),
            "{before_the_last:?}"
        );
    }

    #[test]
    fn one_time_is_its_own_median() {
        let figures = Figures::of(vec![Duration::from_millis(3)]);
        assert_eq!((figures.median_ms(), figures.p99_ms()), (3.0, 3.0));
    }
}
