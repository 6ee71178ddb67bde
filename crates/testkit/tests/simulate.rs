//! Random lives over the real store, a few hundred of them; `simulate` lives a hundred
//! thousand.

use mainspring_testkit::simulate;

#[test]
fn nothing_is_lost_or_done_twice_in_a_few_hundred_lives() {
    assert_eq!(simulate::quick(), [""; 0]);
}

#[test]
fn a_seed_lives_the_same_life_again() {
    for seed in [1, 2, 3] {
        let history = simulate::history(seed);
        assert!(history.len() > 40, "{history:?}");
        assert_eq!(simulate::history(seed), history);
    }
}
