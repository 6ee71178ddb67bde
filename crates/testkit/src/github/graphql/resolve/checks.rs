//! Checks and status contexts, and their sum.

use serde_json::json;

use super::connection::page_with;
use super::{Answer, CheckKey, Object, Resolved, Session};
use crate::github::check::{Check, CheckKind, RunState};
use crate::github::graphql::error::Failure;
use crate::github::graphql::execute::Arguments;
use crate::github::state::now;

impl Session<'_> {
    /// Nothing until a first check is registered, as at GitHub.
    pub(super) fn rollup(&self, repository: usize, sha: &str) -> Option<Object> {
        let none = self.world.repositories[repository]
            .checks_on(sha)
            .is_empty();
        (!none).then(|| Object::Rollup {
            repository,
            sha: sha.to_owned(),
        })
    }

    pub(super) fn rollup_field(
        &self,
        repository: usize,
        sha: &str,
        field: &str,
        arguments: &Arguments,
    ) -> Option<Answer> {
        let checks = self.world.repositories[repository].checks_on(sha);
        Some(Ok(match field {
            "id" => json!(format!("SCR_{sha}")).into(),
            "state" => json!(overall(checks)).into(),
            "contexts" => {
                let key = |index| CheckKey {
                    repository,
                    sha: sha.to_owned(),
                    index,
                };
                let all: Vec<_> = (0..checks.len())
                    .map(|index| Object::Check(key(index)).into())
                    .collect();
                let connection = "StatusCheckRollupContextConnection";
                page_with(connection, field, &all, arguments, counts(checks))
            }
            _ => return None,
        }))
    }

    /// `CLEAN` when every required check passed on this commit.
    pub(super) fn merge_state(&self, repository: usize, sha: &str) -> &'static str {
        let known = &self.world.repositories[repository];
        let passed = |name: &String| {
            let check = known
                .checks_on(sha)
                .iter()
                .find(|check| &check.name == name);
            check.is_some_and(|check| outcome(check) == "SUCCESS")
        };
        if known.required.iter().all(passed) {
            "CLEAN"
        } else {
            "BLOCKED"
        }
    }

    fn check(&self, key: &CheckKey) -> &Check {
        &self.world.repositories[key.repository].checks_on(&key.sha)[key.index]
    }

    pub(super) fn check_type(&self, key: &CheckKey) -> &'static str {
        match self.check(key).kind {
            CheckKind::Run(_) => "CheckRun",
            CheckKind::Status(_) => "StatusContext",
        }
    }

    pub(super) fn check_field(
        &self,
        key: &CheckKey,
        field: &str,
        arguments: &Arguments,
    ) -> Option<Answer> {
        let known = &self.world.repositories[key.repository];
        let check = self.check(key);
        let CheckKey { sha, index, .. } = key;
        let job = index + 1;
        let target = json!(format!("{}/actions/runs/1/job/{job}", known.url()));
        Some(Ok(match (&check.kind, field) {
            (_, "id") => json!(format!("CR_{sha}_{index}")).into(),
            (_, "isRequired") => {
                let id = arguments.get("pullRequestId");
                let for_pull = id.or(arguments.get("pullRequestNumber"));
                if for_pull.is_none() {
                    // GitHub refuses this too; the message is ours.
                    let message = "isRequired needs the id or the number of a pull request";
                    return Some(Err(Failure::unprocessable(message)));
                }
                known.required.contains(&check.name).into()
            }
            (CheckKind::Status(_), "context") | (CheckKind::Run(_), "name") => {
                json!(check.name).into()
            }
            (CheckKind::Status(state), "state") => json!(state).into(),
            (CheckKind::Status(_), "createdAt") | (CheckKind::Run(_), "startedAt") => {
                json!(now()).into()
            }
            (CheckKind::Status(_), "targetUrl") | (CheckKind::Run(_), "detailsUrl") => {
                target.into()
            }
            (CheckKind::Status(_), "description") | (CheckKind::Run(_), "title") => Resolved::NULL,
            (CheckKind::Run(RunState::Unfinished(status)), "status") => json!(status).into(),
            (CheckKind::Run(RunState::Unfinished(_)), "conclusion" | "completedAt") => {
                Resolved::NULL
            }
            (CheckKind::Run(RunState::Completed(_)), "status") => json!("COMPLETED").into(),
            (CheckKind::Run(RunState::Completed(conclusion)), "conclusion") => {
                json!(conclusion).into()
            }
            (CheckKind::Run(RunState::Completed(_)), "completedAt") => json!(now()).into(),
            (CheckKind::Run(_), "databaseId") => json!(job).into(),
            (CheckKind::Run(_), "checkSuite") => suite(*index).into(),
            _ => return None,
        }))
    }
}

fn suite(index: usize) -> Object {
    let workflow = Object::Record(
        "Workflow",
        vec![
            ("id", json!(format!("W_{index}")).into()),
            ("name", json!("CI").into()),
        ],
    );
    let run = Object::Record(
        "WorkflowRun",
        vec![
            ("id", json!(format!("WFR_{index}")).into()),
            ("event", json!("push").into()),
            ("workflow", workflow.into()),
        ],
    );
    Object::Record(
        "CheckSuite",
        vec![
            ("id", json!(format!("CS_{index}")).into()),
            ("workflowRun", run.into()),
        ],
    )
}

/// The one word for a check: `SUCCESS`, `FAILURE`, `PENDING`, `ERROR` or `EXPECTED`.
fn outcome(check: &Check) -> &str {
    match &check.kind {
        CheckKind::Status(state) => state,
        CheckKind::Run(RunState::Unfinished(_)) => "PENDING",
        CheckKind::Run(RunState::Completed(conclusion)) => match conclusion.as_str() {
            "SUCCESS" | "NEUTRAL" | "SKIPPED" => "SUCCESS",
            _ => "FAILURE",
        },
    }
}

/// The worst of them.
fn overall(checks: &[Check]) -> &'static str {
    let any = |wanted: &str| checks.iter().any(|check| outcome(check) == wanted);
    ["ERROR", "FAILURE", "PENDING", "EXPECTED"]
        .into_iter()
        .find(|state| any(state))
        .unwrap_or("SUCCESS")
}

fn counts(checks: &[Check]) -> Vec<(&'static str, Resolved)> {
    let mut runs: Vec<(&str, usize)> = Vec::new();
    let mut statuses: Vec<(&str, usize)> = Vec::new();
    for check in checks {
        let (counted, state) = match &check.kind {
            CheckKind::Status(state) => (&mut statuses, state),
            CheckKind::Run(RunState::Unfinished(state) | RunState::Completed(state)) => {
                (&mut runs, state)
            }
        };
        match counted.iter_mut().find(|(known, _)| known == state) {
            Some((_, count)) => *count += 1,
            None => counted.push((state, 1)),
        }
    }
    let records = |record: &'static str, counted: &[(&str, usize)]| {
        let records = counted
            .iter()
            .map(|(state, count)| {
                Object::Record(
                    record,
                    vec![
                        ("state", json!(state).into()),
                        ("count", json!(count).into()),
                    ],
                )
                .into()
            })
            .collect();
        Resolved::List(records)
    };
    let total = |counted: &[(&str, usize)]| counted.iter().map(|(_, count)| count).sum::<usize>();
    vec![
        ("checkRunCount", json!(total(&runs)).into()),
        ("statusContextCount", json!(total(&statuses)).into()),
        (
            "checkRunCountsByState",
            records("CheckRunStateCount", &runs),
        ),
        (
            "statusContextCountsByState",
            records("StatusContextStateCount", &statuses),
        ),
    ]
}
