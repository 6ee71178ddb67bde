//! `.claude/idle-loop.local.md`: one loop, as front matter followed by its prompt.
//!
//! Lines that are not ours and the prompt stay as they are. Without `active: true` there is no
//! loop.

use std::borrow::Cow;

use mainspring_kernel::machines::looping::{
    Client, Ending, Frame, LoopOwner, Mode, Past, Run, State,
};
use mainspring_kernel::{Millis, SessionId};

use super::doc;

const FENCE: &str = "---";

/// The front matter and the rest of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Page {
    front: Vec<String>,
    /// Everything from the closing fence on.
    rest: String,
}

impl Page {
    fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut lines = text.split_inclusive('\n');
        if lines.next()?.trim() != FENCE {
            return None;
        }
        let mut front = Vec::new();
        let mut rest = String::new();
        let mut closed = false;
        for line in lines {
            closed = closed || line.trim() == FENCE;
            if closed {
                rest.push_str(line);
            } else {
                front.push(line.trim_end().to_owned());
            }
        }
        closed.then_some(Self { front, rest })
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.front.iter().position(|line| {
            line.split_once(':')
                .is_some_and(|(key, _)| key.trim() == name)
        })
    }

    /// The value, without YAML's optional quotes.
    fn get(&self, name: &str) -> Option<Cow<'_, str>> {
        let (_, value) = self.front[self.place(name)?].split_once(':')?;
        let value = value.trim();
        let unquoted = ['"', '\'']
            .iter()
            .find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
        let value = match serde_json::from_str::<String>(value) {
            Ok(said) => Cow::Owned(said),
            Err(_) => Cow::Borrowed(unquoted.unwrap_or(value)),
        };
        Some(value).filter(|value| !value.is_empty())
    }

    /// Replaces the first line of that name, and removes the others: they would be read once
    /// the first is removed.
    fn set(&mut self, name: &str, value: &str) {
        // A line break in a value would start a new field.
        let plain = value.trim() == value
            && !value.starts_with(['"', '\''])
            && !value.contains(char::is_control);
        let line = if plain {
            format!("{name}: {value}")
        } else {
            format!("{name}: {}", serde_json::Value::from(value))
        };
        let place = self.place(name);
        self.remove(name);
        match place {
            Some(place) => self.front.insert(place, line),
            None => self.front.push(line),
        }
    }

    fn remove(&mut self, name: &str) {
        while let Some(place) = self.place(name) {
            self.front.remove(place);
        }
    }

    fn text(&self) -> String {
        let mut out = format!("{FENCE}\n");
        for line in &self.front {
            out.push_str(line);
            out.push('\n');
        }
        out + &self.rest
    }
}

/// Reads the file. If it has no date, the time of its last change on disk counts.
pub fn read(text: &str, modified: Millis) -> State {
    let Some(page) = Page::parse(text).filter(|page| page.get("active").as_deref() == Some("true"))
    else {
        return State::Idle(Past::Blank);
    };
    match run(&page, modified) {
        Err(problem) => State::Corrupt(problem),
        Ok(run) => match page.get("accepted").as_deref().and_then(Ending::parse) {
            Some(ending) => State::Completing { run, ending },
            None => State::Active(run),
        },
    }
}

fn run(page: &Page, modified: Millis) -> Result<Run, String> {
    let mode = match page.get("mode") {
        None => Mode::Loop,
        Some(text) => Mode::parse(&text)
            .ok_or_else(|| format!("mode is {text:?}, not loop, issue or grind"))?,
    };
    let count = |name: &str| {
        page.get(name)
            .map(|text| doc::number(&text, name))
            .transpose()
    };
    let owner = match page.get("session").as_deref().and_then(SessionId::parse) {
        None if page.get("next").as_deref() == Some("true") => LoopOwner::Next,
        None => LoopOwner::Nobody,
        Some(id) => LoopOwner::Session {
            id,
            client: page
                .get("client")
                .and_then(|pid| pid.parse().ok())
                .map(Client),
        },
    };
    Ok(Run {
        id: page.get("run_id").unwrap_or_default().into_owned(),
        updated: page
            .get("updated_at")
            .map_or(Ok(modified), |text| doc::date(&text))?,
        owner,
        outer: Vec::new(),
        top: Frame {
            id: String::new(),
            mode,
            iter: count("iteration")?.unwrap_or(1),
            max: count("max_iterations")?.unwrap_or(mode.default_max()),
        },
        adopted: page.get("adopted").as_deref() == Some("true"),
    })
}

/// The file for a state; other lines stay as they were.
pub fn write(before: Option<&str>, state: &State) -> String {
    let mut page = before.and_then(Page::parse).unwrap_or(Page {
        front: Vec::new(),
        rest: format!("{FENCE}\n"),
    });
    page.remove("accepted");
    page.remove("adopted");
    page.remove("ended");
    match state {
        State::Active(run) | State::Completing { run, .. } | State::Stuck(run) => {
            page.set("active", "true");
            page.set("mode", run.top.mode.as_str());
            page.set("iteration", &run.top.iter.to_string());
            page.set("max_iterations", &run.top.max.to_string());
            page.set("updated_at", &doc::stamp(run.updated));
            page.remove("session");
            page.remove("client");
            page.remove("next");
            match &run.owner {
                LoopOwner::Nobody => {}
                LoopOwner::Next => page.set("next", "true"),
                LoopOwner::Session { id, client } => {
                    page.set("session", id.as_str());
                    if let Some(Client(pid)) = client {
                        page.set("client", &pid.to_string());
                    }
                }
            }
            if run.adopted {
                page.set("adopted", "true");
            }
            if let State::Completing { ending, .. } = state {
                page.set("accepted", ending.as_str());
            }
        }
        State::Idle(Past::Done(ending)) => {
            page.set("active", "false");
            page.set("ended", ending.as_str());
        }
        State::Idle(Past::Aborted | Past::Blank) | State::Aborted { .. } => {
            page.set("active", "false");
            page.set("ended", "ABORT");
        }
        // What could not be read is never overwritten.
        State::Corrupt(_) => return before.unwrap_or_default().into(),
    }
    page.text()
}

/// The prompt: what follows the front matter.
pub fn prompt(text: &str) -> Option<String> {
    let page = Page::parse(text)?;
    let (_, body) = page.rest.split_once('\n')?;
    let body = body.trim();
    (!body.is_empty()).then(|| body.to_owned())
}

/// The file with this prompt below its front matter.
pub(crate) fn with_prompt(text: &str, prompt: &str) -> String {
    let Some(mut page) = Page::parse(text) else {
        return text.into();
    };
    page.rest = format!("{FENCE}\n\n{}\n", prompt.trim());
    page.text()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    const PAGE: &str = "---\nactive: true\nmode: loop\niteration: 3\nmax_iterations: 10\n\
                        tool: keep me\n---\n\nFix the tests.\n";

    fn active(text: &str) -> Run {
        match read(text, Millis(5_000)) {
            State::Active(run) => run,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_seeds_fields_are_read_and_the_rest_survives() {
        let mut run = active(PAGE);
        assert_eq!(
            (run.top.iter, run.top.max, run.updated),
            (3, 10, Millis(5_000))
        );
        assert_eq!(run.owner, LoopOwner::Nobody);
        assert_eq!(prompt(PAGE).as_deref(), Some("Fix the tests."));

        run.top.iter = 4;
        run.updated = Millis(1_735_380_000_000);
        run.owner = LoopOwner::Session {
            id: SessionId::parse("s-1").unwrap(),
            client: Some(Client(7)),
        };
        let written = write(Some(PAGE), &State::Active(run.clone()));
        assert_eq!(
            written,
            "---\nactive: true\nmode: loop\niteration: 4\nmax_iterations: 10\ntool: keep me\n\
             updated_at: 2024-12-28T10:00:00Z\nsession: s-1\nclient: 7\n---\n\nFix the tests.\n"
        );
        assert_eq!(active(&written), run);
    }

    #[test]
    fn only_an_active_one_is_a_loop_and_its_end_is_written_down() {
        for none in [
            "",
            "no front matter",
            "---\nactive: false\n---\n",
            "---\nactive: yes\n---\n",
            "---\nactive: true\nnever closed",
        ] {
            assert_eq!(read(none, Millis(0)), State::Idle(Past::Blank), "{none:?}");
        }
        let ended = write(Some(PAGE), &State::Idle(Past::Done(Ending::Complete)));
        assert!(ended.contains("active: false\n") && ended.contains("ended: COMPLETE\n"));
        assert!(
            ended.ends_with("---\n\nFix the tests.\n"),
            "the prompt is kept"
        );
        assert_eq!(read(&ended, Millis(0)), State::Idle(Past::Blank));
    }

    #[test]
    fn no_session_id_is_more_than_a_value() {
        for id in ["active: false", "---", " s ", "\"s\"", "'s'", "\"", "s: t"] {
            let mut run = active(PAGE);
            run.owner = LoopOwner::Session {
                id: SessionId::parse(id).unwrap(),
                client: None,
            };
            let written = write(Some(PAGE), &State::Active(run.clone()));
            assert_eq!(active(&written), run, "{written}");
            assert_eq!(written.lines().count(), PAGE.lines().count() + 2);
        }
    }

    #[test]
    fn what_is_no_count_and_no_date_is_corrupt() {
        for (line, problem) in [
            ("iteration: x", "iteration is \"x\", not a count"),
            ("iteration: -1", "iteration is \"-1\", not a count"),
            (
                "max_iterations: 1.5",
                "max_iterations is \"1.5\", not a count",
            ),
            ("mode: spin", "mode is \"spin\", not loop, issue or grind"),
            ("updated_at: soon", "updated_at is \"soon\", not a date"),
        ] {
            let text = format!("---\nactive: true\n{line}\n---\n");
            assert_eq!(read(&text, Millis(0)), State::Corrupt(problem.into()));
        }
        assert_eq!(
            active("---\nactive: \"true\"\niteration: \"2\"\n---\n")
                .top
                .iter,
            2
        );
        assert_eq!(
            active("---\r\nactive: true\r\niteration: 2\r\n---\r\n")
                .top
                .iter,
            2
        );
    }

    proptest::proptest! {
        #[test]
        fn garbage_is_no_loop_and_what_is_written_is_read_again(
            iteration in 1..50_u32,
            front in "([a-z_]{0,9}[: \"'0-9\\-\r\t]{0,9}\n){0,9}",
            rest in "\\PC{0,80}",
        ) {
            let text = format!("---\nactive: true\niteration: {iteration}\n{front}---\n{rest}");
            let state = read(&text, Millis(7_000));
            let State::Active(run) = &state else {
                return Err(proptest::test_runner::TestCaseError::fail(format!("{state:?}")));
            };
            proptest::prop_assert_eq!(run.top.iter, iteration);
            let again = read(&write(Some(&text), &state), Millis(0));
            proptest::prop_assert_eq!(again, state);
            proptest::prop_assert_eq!(read(&rest, Millis(0)), State::Idle(Past::Blank));
        }
    }
}
