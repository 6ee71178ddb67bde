//! Reads a pull request: its state, its review, and the checks of its current head.

use mainspring_kernel::machines::claim::pull::{
    Check, CheckState, Extent, Need, Pull, PullState, Review,
};
use mainspring_kernel::machines::claim::work::Fault;
use serde_json::{Value, json};

use super::github_context::GitHubContext;

const POLL: &str = "query ClaimPoll($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      number url state headRefOid reviewDecision
      baseRef { refUpdateRule { requiredStatusCheckContexts } }
      commits(last: 1) {
        nodes {
          commit {
            oid
            statusCheckRollup {
              state
              contexts(first: 100) {
                totalCount
                nodes {
                  __typename
                  ... on CheckRun { name status conclusion isRequired(pullRequestNumber: $number) }
                  ... on StatusContext { context state isRequired(pullRequestNumber: $number) }
                }
              }
            }
          }
        }
      }
    }
  }
}";

pub(crate) fn poll(github_context: &GitHubContext, number: u64) -> Result<Pull, Fault> {
    let variables = json!({
        "owner": github_context.repository.owner,
        "name": github_context.repository.name,
        "number": number,
    });
    let reply = github_context.github().graphql(POLL, &variables)?;
    read(&reply.body["data"]["repository"]["pullRequest"]).ok_or_else(|| {
        let mut fault = reply.fault();
        if reply.errors().is_empty() {
            fault.cause = format!("GitHub has no pull request #{number}");
        }
        fault
    })
}

pub fn read(pull: &Value) -> Option<Pull> {
    let head = pull["headRefOid"].as_str()?.to_owned();
    let commit = &pull["commits"]["nodes"][0]["commit"];
    // Checks of an earlier commit say nothing about the head.
    let rollup = if commit["oid"] == head.as_str() {
        &commit["statusCheckRollup"]
    } else {
        &Value::Null
    };
    let contexts = &rollup["contexts"];
    let checks: Vec<Check> = contexts["nodes"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(check)
        .collect();
    let total = contexts["totalCount"].as_u64().unwrap_or(0);
    let required = pull["baseRef"]["refUpdateRule"]["requiredStatusCheckContexts"].as_array();
    let awaited = required
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .filter(|name| !checks.iter().any(|check| check.name == *name))
        .map(str::to_owned)
        .collect();
    Some(Pull {
        number: pull["number"].as_u64()?,
        url: pull["url"].as_str()?.to_owned(),
        state: match pull["state"].as_str()? {
            "MERGED" => PullState::Merged,
            "CLOSED" => PullState::Closed,
            "OPEN" => PullState::Open,
            _ => return None,
        },
        review: match pull["reviewDecision"].as_str() {
            Some("APPROVED") => Review::Approved,
            Some("CHANGES_REQUESTED") => Review::ChangesRequested,
            Some(_) | None => Review::None,
        },
        extent: match u32::try_from(total) {
            Ok(total) if total as usize > checks.len() => Extent::Partial {
                total,
                sum: status(rollup["state"].as_str()),
            },
            Ok(_) | Err(_) => Extent::All,
        },
        head,
        checks,
        awaited,
    })
}

fn check(node: &Value) -> Option<Check> {
    let (name, state) = match node["__typename"].as_str()? {
        "CheckRun" => (node["name"].as_str()?, conclusion(node)),
        "StatusContext" => (node["context"].as_str()?, status(node["state"].as_str())),
        _ => return None,
    };
    Some(Check {
        name: name.to_owned(),
        state,
        need: if node["isRequired"] == true {
            Need::Required
        } else {
            Need::Optional
        },
    })
}

/// A value that we do not know counts as running, never as passed.
fn conclusion(run: &Value) -> CheckState {
    if run["status"] != "COMPLETED" {
        return CheckState::Running;
    }
    match run["conclusion"].as_str() {
        Some("SUCCESS" | "NEUTRAL" | "SKIPPED") => CheckState::Passed,
        Some("ACTION_REQUIRED" | "CANCELLED" | "FAILURE" | "STARTUP_FAILURE" | "TIMED_OUT") => {
            CheckState::Failed
        }
        Some(_) | None => CheckState::Running,
    }
}

fn status(state: Option<&str>) -> CheckState {
    match state {
        Some("SUCCESS") => CheckState::Passed,
        Some("ERROR" | "FAILURE") => CheckState::Failed,
        Some(_) | None => CheckState::Running,
    }
}

#[cfg(test)]
mod tests {
    use mainspring_kernel::machines::claim::pull::Ci;

    use super::*;

    fn answer(oid: &str, total: u64, nodes: &Value) -> Value {
        json!({
            "number": 107, "url": "u", "state": "OPEN", "headRefOid": "h2", "reviewDecision": null,
            "baseRef": {"refUpdateRule": {"requiredStatusCheckContexts": ["test"]}},
            "commits": {"nodes": [{"commit": {"oid": oid, "statusCheckRollup": {
                "state": "PENDING", "contexts": {"totalCount": total, "nodes": nodes},
            }}}]},
        })
    }

    fn run(name: &str, status: &str, conclusion: Option<&str>) -> Value {
        json!({"__typename": "CheckRun", "name": name, "status": status, "conclusion": conclusion, "isRequired": name == "test"})
    }

    #[test]
    fn only_the_current_heads_checks_count() {
        let nodes = json!([run("test", "COMPLETED", Some("SUCCESS"))]);
        assert_eq!(read(&answer("h2", 1, &nodes)).unwrap().ci(), Ci::Passed);
        let stale = read(&answer("h1", 1, &nodes)).unwrap();
        assert!(stale.checks.is_empty());
        assert_eq!(stale.ci(), Ci::Running, "a required check is still awaited");
    }

    #[test]
    fn every_conclusion_is_one_of_three() {
        for (status, conclusion, state) in [
            ("COMPLETED", Some("SUCCESS"), CheckState::Passed),
            ("COMPLETED", Some("NEUTRAL"), CheckState::Passed),
            ("COMPLETED", Some("SKIPPED"), CheckState::Passed),
            ("COMPLETED", Some("FAILURE"), CheckState::Failed),
            ("COMPLETED", Some("CANCELLED"), CheckState::Failed),
            ("COMPLETED", Some("TIMED_OUT"), CheckState::Failed),
            ("COMPLETED", Some("ACTION_REQUIRED"), CheckState::Failed),
            ("COMPLETED", Some("STARTUP_FAILURE"), CheckState::Failed),
            ("COMPLETED", Some("STALE"), CheckState::Running),
            ("COMPLETED", Some("SOMETHING_NEW"), CheckState::Running),
            ("COMPLETED", None, CheckState::Running),
            ("QUEUED", None, CheckState::Running),
            ("WAITING", Some("SUCCESS"), CheckState::Running),
        ] {
            let read = read(&answer("h2", 1, &json!([run("test", status, conclusion)]))).unwrap();
            assert_eq!(read.checks[0].state, state, "{status} {conclusion:?}");
        }
        for (state, expected) in [
            ("SUCCESS", CheckState::Passed),
            ("FAILURE", CheckState::Failed),
            ("ERROR", CheckState::Failed),
            ("PENDING", CheckState::Running),
            ("EXPECTED", CheckState::Running),
        ] {
            let node = json!([{"__typename": "StatusContext", "context": "test", "state": state, "isRequired": true}]);
            assert_eq!(
                read(&answer("h2", 1, &node)).unwrap().checks[0].state,
                expected
            );
        }
    }

    #[test]
    fn with_more_checks_than_fit_githubs_own_sum_decides() {
        let nodes = json!([run("test", "COMPLETED", Some("SUCCESS"))]);
        assert_eq!(read(&answer("h2", 101, &nodes)).unwrap().ci(), Ci::Running);
    }

    #[test]
    fn an_answer_without_the_pull_request_is_none() {
        for garbage in [
            json!(null),
            json!({}),
            json!([]),
            json!({"headRefOid": "h", "number": 1, "url": "u", "state": "NEW"}),
        ] {
            assert_eq!(read(&garbage), None);
        }
    }
}
