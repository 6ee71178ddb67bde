//! The answer of a reviewer that only reads: one JSON object, with its verdict and its review. We
//! check it ourselves, because no vendor's client does it in every case.

use std::ffi::{OsStr, OsString};

use mainspring_kernel::machines::review::Verdict;
use serde_json::Value;

use super::claude::reviewer::verdict::{unambiguous, verdict};
use super::reviewer::{End, Said, Task, report};

/// The schema with findings for an API that allows no other field and requires every one.
pub(crate) const STRICT: &str = r#"{"type":"object","properties":{"verdict":{"type":"string","enum":["PASS","FAIL"]},"findings":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},"severity":{"type":"string","enum":["blocker","major","minor"]},"path":{"type":["string","null"]},"line":{"type":["integer","null"]},"claim":{"type":"string"},"evidence":{"type":"string"}},"required":["id","severity","path","line","claim","evidence"],"additionalProperties":false}},"earlier":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},"status":{"type":"string","enum":["fixed","not_fixed","withdrawn"]}},"required":["id","status"],"additionalProperties":false}}},"required":["verdict","findings","earlier"],"additionalProperties":false}"#;

/// What such a client printed, as far as it concerns us.
#[derive(Debug, Default)]
pub(super) struct Printed {
    /// The agent's last message, or the object that the schema asked for.
    pub(super) answer: Option<String>,
    /// In millionths of a dollar; 0 if the client does not say.
    pub(super) cost: u64,
    pub(super) failed: bool,
}

impl Printed {
    pub(super) fn said(&self) -> Said {
        let answer = self.answer.as_deref().and_then(parse);
        Said {
            verdict: answer.as_ref().map_or(Verdict::Unsaid, verdict),
            report: answer.as_ref().and_then(report::read),
            cost: self.cost,
            end: if self.failed { End::Error } else { End::Well },
        }
    }
}

/// The object. Models like to put JSON into a fence; anything else around it is not in the
/// schema.
fn parse(text: &str) -> Option<Value> {
    let text = text.trim();
    let fenced = text
        .strip_prefix("```json")
        .or_else(|| text.strip_prefix("```"));
    let text = fenced
        .and_then(|rest| rest.strip_suffix("```"))
        .unwrap_or(text);
    unambiguous(text).filter(Value::is_object)
}

/// The arguments of such a client: the words of this line and one more, the model if one is named,
/// and the prompt, after what comes before it.
pub(super) fn args(
    task: &Task<'_>,
    line: &str,
    more: Option<&OsStr>,
    before_prompt: Option<&str>,
) -> Vec<OsString> {
    let mut args: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    args.extend(more.map(OsString::from));
    if !task.model.is_empty() {
        args.extend(["--model", task.model].map(OsString::from));
    }
    args.extend(before_prompt.map(OsString::from));
    args.push(task.prompt.clone().into());
    args
}

/// The last of the lines' error messages, by the names of its fields.
pub(super) fn complaint(stdout: &[u8], path: &[&str]) -> Option<String> {
    let mut lines = lines(stdout).into_iter().rev();
    lines.find_map(|line| text(&line, path))
}

/// The objects of an output with one per line; other lines are passed over.
pub(super) fn lines(stdout: &[u8]) -> Vec<Value> {
    let lines = stdout.split(|byte| *byte == b'\n');
    lines
        .filter_map(|line| mainspring_json::read(line).ok())
        .collect()
}

/// A text in an object, by the names of its fields.
pub(super) fn text(value: &Value, path: &[&str]) -> Option<String> {
    let found = path
        .iter()
        .try_fold(value, |value, name| value.get(*name))?;
    found.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::hosts::reviewer::PROFILES;

    #[test]
    fn only_an_answer_in_the_schema_is_a_verdict() {
        const NO_MORE: &str = r#""findings":[],"earlier":[]"#;
        for (answer, verdict, reported) in [
            (
                format!(r#"{{"verdict":"PASS",{NO_MORE}}}"#),
                Verdict::Pass,
                true,
            ),
            (
                format!(" ```json\n{{\"verdict\":\"FAIL\",{NO_MORE}}}\n```"),
                Verdict::Fail,
                true,
            ),
            (r#"{"verdict":"PASS"}"#.into(), Verdict::Pass, false),
            (
                format!(r#"{{"verdict":"pass",{NO_MORE}}}"#),
                Verdict::Unsaid,
                true,
            ),
            (
                format!(r#"I say {{"verdict":"PASS",{NO_MORE}}}"#),
                Verdict::Unsaid,
                false,
            ),
            (
                r#"{"verdict":"FAIL","verdict":"PASS"}"#.into(),
                Verdict::Unsaid,
                false,
            ),
            ("PASS".into(), Verdict::Unsaid, false),
            (String::new(), Verdict::Unsaid, false),
        ] {
            let printed = Printed {
                answer: Some(answer.clone()),
                ..Printed::default()
            };
            let said = printed.said();
            assert_eq!(
                (said.verdict, said.report.is_some()),
                (verdict, reported),
                "{answer}"
            );
        }
    }

    /// What each real client printed for the same answer, and for a refused key.
    #[test]
    fn every_clients_output_is_read() {
        let answer = r#"{\"verdict\":\"FAIL\",\"findings\":[],\"earlier\":[]}"#;
        for (program, good, bad) in [
            (
                "codex",
                format!(
                    "{{\"type\":\"thread.started\"}}\n{{\"type\":\"item.completed\",\"item\":{{\"type\":\"agent_message\",\"text\":\"{answer}\"}}}}\n{{\"type\":\"turn.completed\",\"usage\":{{}}}}\n"
                ),
                "{\"type\":\"error\",\"message\":\"401\"}\n{\"type\":\"turn.failed\",\"error\":{\"message\":\"401\"}}\n",
            ),
            (
                "gemini",
                format!("{{\"session_id\":\"s\",\"response\":\"{answer}\",\"stats\":{{}}}}"),
                "",
            ),
            (
                "qwen",
                format!(
                    "[{{\"type\":\"system\"}},{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"{answer}\"}}]"
                ),
                "[{\"type\":\"result\",\"subtype\":\"error_during_execution\",\"is_error\":true,\"error\":{\"message\":\"401\"}}]",
            ),
            (
                "copilot",
                format!(
                    "{{\"type\":\"assistant.message\",\"data\":{{\"content\":\"looking\"}}}}\n{{\"type\":\"assistant.message\",\"data\":{{\"content\":\"{answer}\"}}}}\n{{\"type\":\"result\",\"exitCode\":0}}\n"
                ),
                "{\"type\":\"session.error\",\"data\":{\"message\":\"401\"}}\n{\"type\":\"result\",\"exitCode\":1}\n",
            ),
            (
                "opencode",
                format!(
                    "{{\"type\":\"text\",\"part\":{{\"text\":\"{answer}\"}}}}\n{{\"type\":\"step_finish\",\"part\":{{\"cost\":0.25}}}}\n"
                ),
                "{\"type\":\"error\",\"error\":{\"data\":{\"message\":\"401\"}}}\n",
            ),
        ] {
            let profile = PROFILES.iter().find(|one| one.program == program).unwrap();
            let said = (profile.read)(good.as_bytes()).unwrap();
            assert_eq!(said.verdict, Verdict::Fail, "{program}");
            assert_eq!(said.end, End::Well, "{program}");
            assert_eq!(said.cost, if program == "opencode" { 250_000 } else { 0 });
            assert!(said.report.is_some(), "{program}");
            let failed = (profile.read)(bad.as_bytes());
            let failed = failed.is_none_or(|said| said.end == End::Error);
            assert!(failed, "{program}");
            if !bad.is_empty() {
                let complaint = (profile.complaint)(bad.as_bytes());
                assert_eq!(complaint.as_deref(), Some("401"), "{program}");
            }
        }
    }
}
