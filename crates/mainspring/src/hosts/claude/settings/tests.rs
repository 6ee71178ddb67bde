use std::path::Path;

use jsonc_parser::cst::{CstNode, CstRootNode};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::hosts::DEFAULT;

fn caller() -> Caller {
    Caller::Own {
        program: "/bin/mainspring".into(),
        hook: "/bin/mainspring-hook".into(),
    }
}

fn both() -> Vec<&'static str> {
    let all = INSTALLATION.variables.iter();
    all.map(|variable| variable.name).collect()
}

fn wish<'a>(caller: &'a Caller, variables: &'a [&'a str]) -> Wish<'a> {
    Wish {
        caller,
        hooks: Hooks::File,
        guard: false,
        variables,
        status_line: false,
        replace: false,
    }
}

fn put_in(text: &str) -> String {
    register(DEFAULT, text, &wish(&caller(), &both())).unwrap()
}

fn taken_out(text: &str) -> String {
    let names: Vec<String> = both().into_iter().map(str::to_owned).collect();
    unregister(DEFAULT, text, &names).unwrap()
}

/// Everything but space and commas, in order; comments count.
fn words(text: &str) -> Vec<String> {
    fn walk(node: &CstNode, out: &mut Vec<String>) {
        if let CstNode::Leaf(_) = node {
            if !node.is_whitespace() && !node.is_newline() && !node.is_comma() {
                out.push(node.to_string());
            }
        } else {
            node.children().iter().for_each(|child| walk(child, out));
        }
    }
    let body = text.trim_start_matches('\u{feff}');
    let root = CstRootNode::parse(body, &jsonc_parser::ParseOptions::default()).unwrap();
    let mut out = Vec::new();
    root.children().iter().for_each(|node| walk(node, &mut out));
    out
}

fn is_subsequence(part: &[String], whole: &[String]) -> bool {
    let mut whole = whole.iter();
    part.iter().all(|word| whole.any(|other| other == word))
}

#[test]
fn every_event_is_registered_once_with_a_time_limit_longer_than_our_own() {
    let handlers = look(DEFAULT, &put_in("")).unwrap().handlers;
    let times = |event: &str| handlers.iter().filter(|one| one.event == event).count();
    for event in [
        "SessionStart",
        "UserPromptSubmit",
        "UserPromptExpansion",
        "PostToolUse",
        "Notification",
        "SessionEnd",
    ] {
        assert_eq!(times(event), 1, "{event}");
    }
    assert_eq!(times("Stop"), 2);
    for handler in &handlers {
        let name = match handler.calls {
            Calls::Watch => "/bin/mainspring",
            _ => "/bin/mainspring-hook",
        };
        assert_eq!(handler.program, Path::new(name), "{handler:?}");
        assert!(handler.timeout.unwrap() > 0, "{handler:?}");
        assert!(!handler.needs_list, "{handler:?}");
    }
    assert_eq!(handlers, wanted(DEFAULT, &caller()));
}

/// Hosts that read this file, or take it over, drop `args`: what is left must be the same
/// command.
#[test]
fn without_its_args_every_command_is_still_the_same() {
    let own = caller();
    let spaced = Caller::Own {
        program: "/my tools/mainspring".into(),
        hook: "/my tools/mainspring-hook".into(),
    };
    for caller in [&own, &spaced, &Caller::Shared] {
        let drop_in = drop_in_hooks(caller, Script::AgentSync);
        for all in [hooks(caller), drop_in] {
            let root = Map::from_iter([("hooks".to_owned(), Value::Object(all))]);
            for (event, fields) in handlers(&root, |_| true) {
                let mut without = fields.clone();
                without.remove("args");
                assert!(calls_of(fields).is_some(), "{event}: {fields:?}");
                assert_eq!(calls_of(&without), calls_of(fields), "{event}: {fields:?}");
            }
        }
    }
}

/// One word with an empty list of arguments is started without a shell.
#[test]
fn a_plain_path_is_one_word_and_any_other_is_quoted_for_a_shell() {
    let command = |caller: &Caller| hooks(caller)["Stop"][0]["hooks"][0].clone();
    let plain = command(&caller());
    assert_eq!(plain["command"], "/bin/mainspring-hook");
    assert_eq!(plain["args"], json!([]));
    let spaced = command(&Caller::Own {
        program: "/my tools/mainspring".into(),
        hook: "/my tools/mainspring-hook".into(),
    });
    assert_eq!(spaced["command"], "'/my tools/mainspring-hook'");
    assert_eq!(spaced.get("args"), None);
    let shared = command(&Caller::Shared);
    assert_eq!(
        shared["command"],
        "command -v mainspring-hook >/dev/null 2>&1 || exit 0; exec mainspring-hook shared"
    );
    assert_eq!(shared.get("args"), None);
}

#[test]
fn every_form_that_a_version_of_ours_wrote_is_known() {
    for (fields, calls) in [
        (
            json!({"command": "mainspring", "args": ["hook"]}),
            Calls::Hook,
        ),
        (json!({"command": "/b/mainspring hook"}), Calls::Hook),
        (
            json!({"command": "mainspring-hook", "args": []}),
            Calls::Hook,
        ),
        (json!({"command": "'/my b/mainspring-hook'"}), Calls::Hook),
        (
            json!({"command": "mainspring-hook shared"}),
            Calls::SharedHook,
        ),
        (
            json!({"command": "mainspring", "args": ["claim", "watch"]}),
            Calls::Watch,
        ),
        (
            json!({"command": "/b/mainspring claim watch"}),
            Calls::Watch,
        ),
        (
            json!({"command": "/b/mainspring", "args": ["compat", "idle"]}),
            Calls::DropIn,
        ),
        (json!({"command": "mainspring compat idle"}), Calls::DropIn),
    ] {
        assert_eq!(
            calls_of(fields.as_object().unwrap()),
            Some(calls),
            "{fields}"
        );
    }
    for fields in [
        json!({"command": "mainspring"}),
        json!({"command": "mainspring", "args": ["status"]}),
        json!({"command": "/b/other", "args": ["hook"]}),
        json!({"command": "mainspring-hook other"}),
    ] {
        assert_eq!(calls_of(fields.as_object().unwrap()), None, "{fields}");
    }
}

#[test]
fn twice_is_once_and_another_program_of_ours_is_replaced() {
    let text = json!({"model": "opus", "hooks": {"Stop": [{"hooks": [
        {"type": "command", "command": "/old/mainspring hook"},
        {"type": "command", "command": "say", "args": ["mainspring", "hook"]},
    ]}]}});
    let once = put_in(&text.to_string());
    assert_eq!(put_in(&once), once);
    let root = jsonc::read(&once).unwrap();
    let keys: Vec<&String> = root.keys().collect();
    assert_eq!(keys, ["model", "hooks", "env"]);
    let theirs = root["hooks"]["Stop"][0]["hooks"].as_array().unwrap();
    assert_eq!(theirs.len(), 1);
    let handlers = look(DEFAULT, &once).unwrap().handlers;
    assert!(handlers.iter().all(|one| one.program.starts_with("/bin")));
}

#[test]
fn a_persons_own_value_of_a_variable_stays() {
    let text = json!({"env": {name::BLOCK_CAP: "20"}}).to_string();
    let text = put_in(&text);
    let variables = look(DEFAULT, &text).unwrap().variables;
    assert_eq!(variables[name::BLOCK_CAP], "20");
    assert_eq!(variables[name::TODO_TOOLS], "1");
    let variables = look(DEFAULT, &taken_out(&text)).unwrap().variables;
    assert_eq!(variables[name::BLOCK_CAP], "20");
    assert_eq!(variables.get(name::TODO_TOOLS), None);
}

/// Settings as people write them. Our entries are added after theirs, and removing them
/// restores every byte.
const WRITTEN: [&str; 12] = [
    "{}",
    "{}\n",
    "{\n  \"model\": \"opus\"\n}\n",
    "{\n\t\"zeta\": [1, 2],\n\t\"env\": {\"FOO\": \"1\"}\n}\n",
    "{\n  \"env\": { \"FOO\": \"1\", \"BAR\": \"2\" }\n}",
    "{\r\n    \"model\": \"opus\",\r\n    \"list\": [1,2,   3]\r\n}\r\n",
    "\u{feff}{\n  \"model\": \"opus\"\n}\n",
    "// mine\n{\n  // the model\n  \"model\": \"opus\", // the large one\n  /* and */ \"n\": 1e2\n}\n// end\n",
    "{\n  \"model\": \"opus\",\n  \"list\": [\n    1,\n  ],\n}\n",
    "{\n\t// hooks of mine\n\t\"hooks\": {\n\t\t\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}]\n\t}\n}\n",
    "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          { \"type\": \"command\", \"command\": \"say\" } // loud\n        ]\n      }\n    ],\n    \"Custom\": []\n  }\n}\n",
    "{\n  \"a\": \"}],\\\"{ // no comment\",\n\n  \"b\": {}\n}\n",
];

#[test]
fn what_is_put_in_and_taken_out_again_leaves_every_byte() {
    for text in WRITTEN {
        let with_us = put_in(text);
        assert!(
            is_subsequence(&words(text), &words(&with_us)),
            "{text}\n{with_us}"
        );
        assert_eq!(
            look(DEFAULT, &with_us).unwrap().handlers.len(),
            8,
            "{with_us}"
        );
        assert_eq!(taken_out(&with_us), text, "{with_us}");
    }
}

#[test]
fn ours_looks_like_the_lines_around_it() {
    let text = put_in(WRITTEN[5]);
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());
    assert!(text.contains("\r\n        \"Stop\": [\r\n"), "{text}");
    let text = put_in(WRITTEN[3]);
    assert!(text.contains("\n\t\t\"Stop\": [\n\t\t\t{\n"), "{text}");
    let one_line = format!(
        "\"env\": {{\"FOO\": \"1\", \"{}\": \"100\", \"{}\": \"1\"}}",
        name::BLOCK_CAP,
        name::TODO_TOOLS
    );
    assert!(text.contains(&one_line), "{text}");
    assert!(put_in(WRITTEN[6]).starts_with("\u{feff}{\n"));
}

#[test]
fn a_comment_inside_our_own_entries_stays_when_they_go() {
    let text = put_in("{}").replacen("\"Stop\": [", "\"Stop\": [ // no noise please", 1);
    let without = taken_out(&text);
    assert!(without.contains("// no noise please"), "{without}");
    assert_eq!(look(DEFAULT, &without).unwrap().handlers, []);
}

#[test]
fn what_cannot_be_read_or_has_another_shape_is_named() {
    for (text, said) in [
        ("{\"model\": }", "it cannot be read as JSON: "),
        ("{'model': 1}", "it cannot be read as JSON: "),
        ("{\"a\": 1 \"b\": 2}", "it cannot be read as JSON: "),
        ("[]", "it is not a JSON object"),
        ("{\"hooks\": []}", "hooks is not an object"),
        ("{\"hooks\": {\"Stop\": {}}}", "hooks.Stop is not a list"),
        ("{\"env\": 7}", "env is not an object"),
    ] {
        let problem = register(DEFAULT, text, &wish(&caller(), &both())).unwrap_err();
        assert!(problem.starts_with(said), "{problem}");
    }
    let deep = format!("{{\"a\": {}1{}}}", "[".repeat(5_000), "]".repeat(5_000));
    assert!(look(DEFAULT, &deep).unwrap_err().contains("depth"));
}

/// If two members have one name, the last counts, for the host and for us.
#[test]
fn of_two_lists_of_hooks_the_one_that_counts_is_changed() {
    let text = "{\"hooks\": {}, \"hooks\": {\"Stop\": []}}";
    let with_us = put_in(text);
    assert_eq!(
        look(DEFAULT, &with_us).unwrap().handlers.len(),
        8,
        "{with_us}"
    );
    assert!(with_us.contains("\"hooks\": {},"), "{with_us}");
}

/// Settings as text: on one line or on many, with or without comments.
fn settings() -> impl Strategy<Value = String> {
    let theirs = prop_oneof![
        Just(r#"{"type": "command", "command": "lint"}"#),
        Just(r#"{"type": "prompt", "prompt": "mainspring hook"} /* why */"#),
    ];
    let group = proptest::collection::vec(theirs, 0..3).prop_map(|handlers| {
        format!(
            "{{\"matcher\": \"x\", \"hooks\": [{}]}}",
            handlers.join(",")
        )
    });
    let groups = proptest::collection::vec(group, 0..3);
    let events = proptest::collection::vec(groups, 0..4);
    let gap = prop_oneof![
        Just(""),
        Just(" "),
        Just("\n\t"),
        Just("\r\n  "),
        Just("\n// a comment, with {brackets\n "),
        Just(" /* another */ "),
    ];
    let gaps = proptest::collection::vec(gap, 5);
    let comma = prop_oneof![Just(""), Just(",")];
    (events, gaps, comma).prop_map(|(events, gaps, comma)| {
        let lists: Vec<String> = ["Stop", "PreToolUse", "SessionEnd", "Custom"]
            .iter()
            .zip(events)
            .map(|(event, groups)| {
                format!(
                    "\"{event}\":{}[{}]",
                    gaps[0],
                    groups.join(&format!(",{}", gaps[1]))
                )
            })
            .collect();
        format!(
            "{{{}\"a\": 1,{}\"hooks\": {{{}}}{},\"z\": [true]{comma}{}}}",
            gaps[2],
            gaps[3],
            lists.join(&format!(",{}", gaps[1])),
            gaps[4],
            gaps[2],
        )
    })
}

proptest! {
    #[test]
    fn taking_out_is_the_inverse_of_putting_in(text in settings()) {
        let with_us = put_in(&text);
        prop_assert!(is_subsequence(&words(&text), &words(&with_us)), "{}\n{}", text, with_us);
        prop_assert_eq!(&put_in(&with_us), &with_us);
        let after = taken_out(&with_us);
        prop_assert_eq!(look(DEFAULT, &after).unwrap().handlers, vec![]);
        // An object or list that was empty before may be gone, and one that we created may stay
        // empty if it has a comment. Nothing else may differ.
        let thin = |text: &str| {
            let mut root = jsonc::read(text).unwrap();
            if let Some(Value::Object(hooks)) = root.get_mut("hooks") {
                hooks.retain(|_, groups| groups.as_array().is_none_or(|list| !list.is_empty()));
            }
            root.retain(|key, value| !["hooks", "env"].contains(&key.as_str()) || value != &json!({}));
            root
        };
        prop_assert_eq!(thin(&after), thin(&text));
        let comments = |text: &str| -> Vec<String> {
            words(text).into_iter().filter(|word| word.starts_with('/')).collect()
        };
        prop_assert_eq!(comments(&after), comments(&text));
    }
}
