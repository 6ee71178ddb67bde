//! A reviewer's findings as data: the schema that asks for them, and the reader of the answer.

use mainspring_kernel::machines::review::findings::{
    MOST_REPORTED, Report, Reported, Severity, Status,
};
use mainspring_kernel::machines::review::{Request, Verdict};
use mainspring_store::digest;
use serde_json::Value;

use super::Said;

/// The schema that the answer of a drop-in's reviewer is constrained to, as its document has it.
pub(crate) const VERDICT_ALONE: &str = r#"{"type":"object","properties":{"verdict":{"type":"string","enum":["PASS","FAIL"]}},"required":["verdict"]}"#;

/// The schema with findings, and with a status for every finding of the rounds before.
pub(crate) const WITH_FINDINGS: &str = r#"{"type":"object","properties":{"verdict":{"type":"string","enum":["PASS","FAIL"]},"findings":{"type":"array","maxItems":50,"items":{"type":"object","properties":{"id":{"type":"string"},"severity":{"type":"string","enum":["blocker","major","minor"]},"path":{"type":["string","null"]},"line":{"type":["integer","null"]},"claim":{"type":"string"},"evidence":{"type":"string"}},"required":["id","severity","claim","evidence"]}},"earlier":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},"status":{"type":"string","enum":["fixed","not_fixed","withdrawn"]}},"required":["id","status"]}}},"required":["verdict","findings","earlier"]}"#;

/// How long a claim or its evidence may be, in characters.
const MOST_TEXT: usize = 1_000;
/// How many statuses an answer may have.
const MOST_EARLIER: usize = 500;

/// The findings of an answer; `None` if a part is missing or has the wrong form.
pub(crate) fn read(answer: &Value) -> Option<Report> {
    let findings = answer.get("findings")?.as_array()?;
    let earlier = answer.get("earlier")?.as_array()?;
    if findings.len() > MOST_REPORTED * 10 || earlier.len() > MOST_EARLIER {
        return None;
    }
    Some(Report {
        findings: findings.iter().map(finding).collect::<Option<_>>()?,
        earlier: earlier.iter().map(status).collect::<Option<_>>()?,
    })
}

fn finding(value: &Value) -> Option<Reported> {
    let word = |name: &str| value.get(name)?.as_str();
    let severity = word("severity")?;
    let path = match value.get("path") {
        None | Some(Value::Null) => None,
        Some(path) => Some(path.as_str()?).filter(|path| !path.is_empty()),
    };
    let line = match value.get("line") {
        None | Some(Value::Null) => None,
        Some(line) => Some(line.as_u64()?),
    };
    let claim = shortened(word("claim")?.trim());
    if claim.is_empty() {
        return None;
    }
    Some(Reported {
        id: word("id")?.trim().to_owned(),
        severity: Severity::ALL
            .into_iter()
            .find(|known| known.as_str() == severity)?,
        place: path.map(|path| match line {
            Some(line) => format!("{}:{line}", shortened(path)),
            None => shortened(path),
        }),
        print: digest::of(&[
            path.unwrap_or_default().as_bytes(),
            words(&claim).as_bytes(),
        ]),
        claim,
        evidence: shortened(word("evidence")?.trim()),
    })
}

fn status(value: &Value) -> Option<(String, Status)> {
    let id = value.get("id")?.as_str()?.trim().to_owned();
    let status = value.get("status")?.as_str()?;
    let known = Status::ALL
        .into_iter()
        .find(|known| known.as_str() == status)?;
    Some((id, known))
}

fn shortened(text: &str) -> String {
    text.chars().take(MOST_TEXT).collect()
}

/// A claim without case and punctuation: another reviewer may set a comma.
fn words(claim: &str) -> String {
    let plain = claim.to_lowercase();
    let words = plain.split(|c: char| !c.is_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// The verdict of a whole answer. One that leaves an open finding out, or contradicts itself, is
/// none.
pub(crate) fn judge(said: &Said, asked: &Request) -> Verdict {
    let Some(ledger) = &asked.ledger else {
        return said.verdict;
    };
    let Some(report) = &said.report else {
        return Verdict::Unsaid;
    };
    let status = |id: &str| {
        let found = report.earlier.iter().find(|(known, _)| known == id);
        found.map(|(_, status)| *status)
    };
    let statuses: Option<Vec<Status>> = ledger.open.iter().map(|entry| status(&entry.id)).collect();
    let Some(statuses) = statuses else {
        return Verdict::Unsaid;
    };
    let finds = !report.findings.is_empty() || statuses.contains(&Status::NotFixed);
    match said.verdict {
        Verdict::Pass if finds => Verdict::Unsaid,
        verdict => verdict,
    }
}

/// The review file, where the reviewer wrote none.
pub(crate) fn prose(report: &Report, asked: &Request, verdict: Verdict) -> String {
    let verdict = match verdict {
        Verdict::Pass => "PASS",
        Verdict::Fail => "FAIL",
        Verdict::Unsaid => "no verdict",
    };
    let mut text = format!(
        "# Review by {}: {verdict}\n\nThe reviewer wrote no text. These are its findings.\n",
        asked.model
    );
    if report.findings.is_empty() {
        text += "\nNo findings.\n";
    }
    for found in &report.findings {
        let place = found
            .place
            .as_deref()
            .map_or_else(String::new, |place| format!(", {place}"));
        text += &format!(
            "\n## {} ({}{place})\n\n{}\n\nEvidence: {}\n",
            found.id,
            found.severity.as_str(),
            found.claim,
            found.evidence
        );
    }
    for (id, status) in &report.earlier {
        text += &format!("\n- {id}: {}\n", status.as_str());
    }
    text
}

#[cfg(test)]
mod tests;
