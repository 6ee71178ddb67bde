//! Reads a pull request: its state, its review, and the checks of its current head.

use mainspring_kernel::Millis;
use mainspring_kernel::machines::claim::pull::{
    Check, CheckState, Ci, Extent, Need, Outlook, Pull, PullState, Review,
};
use mainspring_kernel::machines::claim::work::Fault;
use serde_json::{Value, json};

use super::github_context::GitHubContext;
use super::query::nodes;
use crate::hosts::text::excerpt;

/// The query; `more` is what older servers do not know.
fn document(more: &str) -> String {
    format!(
        "query ClaimPoll($owner: String!, $name: String!, $number: Int!) {{
  repository(owner: $owner, name: $name) {{
    pullRequest(number: $number) {{
      number url state headRefOid reviewDecision isDraft mergeable mergedAt {more}
      baseRef {{ refUpdateRule {{ requiredStatusCheckContexts }} }}
      commits(last: 1) {{
        nodes {{
          commit {{
            oid
            statusCheckRollup {{
              state
              contexts(first: 100) {{
                totalCount
                nodes {{
                  __typename
                  ... on CheckRun {{ name status conclusion detailsUrl databaseId isRequired(pullRequestNumber: $number) }}
                  ... on StatusContext {{ context state targetUrl isRequired(pullRequestNumber: $number) }}
                }}
              }}
            }}
          }}
        }}
      }}
    }}
  }}
}}"
    )
}

const MORE: &str = "isInMergeQueue autoMergeRequest { enabledAt }
      timelineItems(last: 1, itemTypes: [HEAD_REF_FORCE_PUSHED_EVENT]) { nodes { ... on HeadRefForcePushedEvent { afterCommit { oid } } } }";

const MERGED: &str = "query ClaimMerged($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) { number url state headRefOid mergedAt }
  }
}";

/// Looks at a pull request. If its checks failed, and not at the commit that is `known`, the end of
/// the log comes with it.
pub(crate) fn poll(
    github: &GitHubContext,
    number: u64,
    known: Option<&str>,
) -> Result<Pull, Fault> {
    let mut reply = ask(github, &document(MORE), number);
    // An older server refuses the whole query for a field that it does not know.
    if let Err(fault) = &reply
        && fault.cause.contains("doesn't exist on type")
    {
        reply = ask(github, &document(""), number);
    }
    let found = reply?;
    let mut pull = found.pull;
    if pull.state == PullState::Open && pull.ci() == Ci::Failed && known != Some(&pull.head) {
        pull.log = found.job.map_or_else(Vec::new, |job| log(github, job));
    }
    Ok(pull)
}

/// The pull request, if it is merged.
pub(crate) fn merged(github: &GitHubContext, number: u64) -> Result<Option<Pull>, Fault> {
    let pull = ask(github, MERGED, number)?.pull;
    Ok((pull.state == PullState::Merged).then_some(pull))
}

struct Asked {
    pull: Pull,
    /// The job of the first failed check.
    job: Option<u64>,
}

fn ask(github: &GitHubContext, document: &str, number: u64) -> Result<Asked, Fault> {
    let variables = json!({
        "owner": github.base.repository.owner,
        "name": github.base.repository.name,
        "number": number,
    });
    let reply = github.api().graphql(document, &variables)?;
    let pull = &reply.body["data"]["repository"]["pullRequest"];
    let read = read(pull).ok_or_else(|| {
        let mut fault = reply.fault();
        if reply.errors().is_empty() {
            fault.cause = format!("GitHub has no pull request #{number}");
        }
        fault
    })?;
    Ok(Asked {
        job: failed_job(pull),
        pull: read,
    })
}

/// The job of the first failed check that GitHub Actions ran.
fn failed_job(pull: &Value) -> Option<u64> {
    let contexts = &pull["commits"]["nodes"][0]["commit"]["statusCheckRollup"]["contexts"];
    let mut failed = nodes(contexts).filter(|node| {
        let url = node["detailsUrl"].as_str().unwrap_or_default();
        url.contains("/actions/runs/") && conclusion(node) == CheckState::Failed
    });
    failed.next()?["databaseId"].as_u64()
}

/// The most lines of a log that are told.
const LOG_LINES: usize = 10;

/// The end of a job's log; empty if it cannot be read.
fn log(github: &GitHubContext, job: u64) -> Vec<String> {
    let repository = &github.base.repository;
    let path = format!(
        "repos/{}/{}/actions/jobs/{job}/logs",
        repository.owner, repository.name
    );
    let text = github.api().text(&path).unwrap_or_default();
    last_lines(&text)
}

/// The last lines up to the error, without the times in front of them.
fn last_lines(log: &str) -> Vec<String> {
    let lines: Vec<&str> = log
        .lines()
        .map(|line| match line.split_once(' ') {
            Some((time, rest)) if time.ends_with('Z') && time.starts_with("20") => rest,
            _ => line,
        })
        .filter(|line| !line.trim().is_empty())
        .collect();
    let error = lines.iter().rposition(|line| line.starts_with("##[error]"));
    let end = error.map_or(lines.len(), |at| at + 1);
    let start = end.saturating_sub(LOG_LINES);
    lines[start..end].iter().map(|line| excerpt(line)).collect()
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
    let checks: Vec<Check> = nodes(contexts).filter_map(check).collect();
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
            Some("REVIEW_REQUIRED") => Review::Required,
            Some(_) | None => Review::None,
        },
        extent: match u32::try_from(total) {
            Ok(total) if total as usize > checks.len() => Extent::Partial {
                total,
                sum: status(rollup["state"].as_str()),
            },
            Ok(_) | Err(_) => Extent::All,
        },
        outlook: outlook(pull),
        merged_at: moment(&pull["mergedAt"]),
        log: Vec::new(),
        head,
        checks,
        awaited,
    })
}

fn outlook(pull: &Value) -> Outlook {
    let forced_to = &pull["timelineItems"]["nodes"][0]["afterCommit"]["oid"];
    Outlook {
        draft: pull["isDraft"] == true,
        conflict: pull["mergeable"] == "CONFLICTING",
        queued: pull["isInMergeQueue"] == true,
        auto_merge: pull["autoMergeRequest"].is_object(),
        forced_to: forced_to.as_str().map(str::to_owned),
    }
}

fn moment(value: &Value) -> Option<Millis> {
    let time: jiff::Timestamp = value.as_str()?.parse().ok()?;
    u64::try_from(time.as_millisecond()).ok().map(Millis)
}

fn check(node: &Value) -> Option<Check> {
    let (name, state, url) = match node["__typename"].as_str()? {
        "CheckRun" => (
            node["name"].as_str()?,
            conclusion(node),
            &node["detailsUrl"],
        ),
        "StatusContext" => (
            node["context"].as_str()?,
            status(node["state"].as_str()),
            &node["targetUrl"],
        ),
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
        url: url.as_str().unwrap_or_default().to_owned(),
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
    fn a_log_ends_at_its_error_and_without_its_clock() {
        let log = "2026-01-05T08:00:00.0000000Z building\n2026-01-05T08:00:01.0000000Z \n\
                   2026-01-05T08:00:02.0000000Z ##[error]Process completed with exit code 1.\n\
                   2026-01-05T08:00:03.0000000Z Cleaning up orphan processes\n";
        assert_eq!(
            last_lines(log),
            ["building", "##[error]Process completed with exit code 1."]
        );
        let long: Vec<String> = (0..30).map(|line| format!("line {line}")).collect();
        let long = long.join("\n");
        assert_eq!(last_lines(&long).len(), LOG_LINES);
        assert_eq!(
            last_lines(&long).last().map(String::as_str),
            Some("line 29")
        );
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
