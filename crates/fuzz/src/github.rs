//! The output of `gh api --include`.

use mainspring_kernel::Millis;
use mainspring_kernel::machines::claim::pull::Ci;
use serde_json::Value;

use mainspring::formats::github;

const NOW: Millis = Millis(1_767_600_000_000);

/// Nobody has to wait for more than a day; no text is unbounded or contains characters that move a
/// terminal; and nothing is green that GitHub did not report as green.
pub(crate) fn run(bytes: &[u8]) {
    let Some(reply) = github::parse(bytes, NOW) else {
        return;
    };
    let fault = reply.fault();
    if let Some(at) = fault.not_before {
        assert!(at <= NOW.plus(Millis::seconds(24 * 60 * 60)));
    }
    harmless(&fault.cause, 260);
    let _ = (reply.errors(), reply.is_scope_missing());
    let pull = &reply.body["data"]["repository"]["pullRequest"];
    if let Some(read) = github::pull_request(pull) {
        harmless(&read.sentence(), 2_000);
        if read.ci() == Ci::Passed {
            assert!(has_success(pull), "{pull}");
        }
    }
}

fn harmless(text: &str, most: usize) {
    assert!(text.chars().count() <= most, "{text}");
    assert!(!text.chars().any(char::is_control), "{text:?}");
}

/// Did a check, or the sum of the checks, succeed?
fn has_success(pull: &Value) -> bool {
    let rollup = &pull["commits"]["nodes"][0]["commit"]["statusCheckRollup"];
    let checks = rollup["contexts"]["nodes"].as_array();
    let good = ["SUCCESS", "NEUTRAL", "SKIPPED"];
    let says = |value: &Value| value.as_str().is_some_and(|word| good.contains(&word));
    says(&rollup["state"])
        || checks
            .into_iter()
            .flatten()
            .any(|check| says(&check["conclusion"]) || says(&check["state"]))
}
