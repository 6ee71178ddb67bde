//! The engine without a socket.

use serde_json::{Map, Value, json};

use super::resolve::{CheckKey, Object, Resolved, Session};
use super::schema::Schema;
use super::{Call, lexer, parser};
use crate::github::{Check, GitHub, LOGIN, PullRequest, Token};

/// A pull request that is merged, with checks of both kinds, and a full board.
fn world() -> GitHub {
    let github = GitHub::start();
    let widgets = github.add_repository("acme", "widgets");
    let head = "1".repeat(40);
    widgets.push("fix-42", &head);
    widgets.require("test");
    widgets.set_check(&head, Check::completed("test", "SUCCESS"));
    widgets.set_check(&head, Check::status("ci/lint", "PENDING"));
    widgets.add_issue(42, "Fix the race");
    widgets.add_comment(42, LOGIN, "Mine");
    github.add_project("acme", 1).add_item(widgets, 42, "Todo");
    let create = r#"mutation { createPullRequest(input: {repositoryId: "R_kwDO000003", headRefName: "fix-42",
        baseRefName: "main", title: "Fix"}) { pullRequest { number } } }"#;
    let created = ask(&github, create, &json!({}));
    assert_eq!(
        created,
        json!({ "data": { "createPullRequest": { "pullRequest": { "number": 43 } } } })
    );
    github
}

fn ask(github: &GitHub, query: &str, variables: &Value) -> Value {
    let token = Token::classic(LOGIN, &["repo", "project"]);
    let mut inside = github.shared.lock();
    let mut session = Session::new(&mut inside.world, "github.com", &token);
    let call = Call::read(&json!({ "query": query, "variables": variables }));
    call.answer(&mut session)
}

fn complaint(github: &GitHub, query: &str, variables: &Value) -> String {
    let answer = ask(github, query, variables);
    let message = answer["errors"][0]["message"].as_str();
    message
        .unwrap_or_else(|| panic!("{query} is refused: {answer}"))
        .to_owned()
}

fn assert_refused(cases: &[(&str, &str)]) {
    let github = world();
    for (query, wanted) in cases {
        let answer = ask(&github, query, &json!({}));
        assert_eq!(answer["errors"][0]["message"], json!(wanted), "{query}");
        assert_eq!(answer.get("data"), None, "{query}");
    }
}

#[test]
fn wrong_fields_and_fragments_are_refused_with_githubs_message() {
    assert_refused(&[
        (
            "{ viewer }",
            "Field must have selections (field 'viewer' returns User but has no selections. Did you mean 'viewer { ... }'?)",
        ),
        (
            "{ viewer { login { x } } }",
            "Selections can't be made on scalars (field 'login' returns String but has selections)",
        ),
        (
            "{ viewer { nick } }",
            "Field 'nick' doesn't exist on type 'User'",
        ),
        (
            "{ repository(owner: \"acme\") { id } }",
            "Field 'repository' is missing required arguments: name",
        ),
        (
            "{ viewer(x: 1) { id } }",
            "Field 'viewer' doesn't accept argument 'x'",
        ),
        ("{ ...F }", "Fragment F was used, but not defined"),
        (
            "{ viewer { ...F } } fragment F on User { ...F }",
            "Fragment F contains an infinite loop",
        ),
        (
            "{ viewer { ... on Nobody { id } } }",
            "No such type Nobody, so it can't be a fragment condition",
        ),
        (
            "{ viewer { ... on Issue { id } } }",
            "Fragment on Issue can't be spread inside User",
        ),
        (
            "{ node(id: \"PVT_kwDO000007\") { ... on ProjectV2 { field(name: \"Status\") { id } } } }",
            "Selections can't be made directly on unions (see selections on ProjectV2FieldConfiguration)",
        ),
        ("", "No operation was asked for"),
    ]);
}

#[test]
fn wrong_variables_and_arguments_are_refused_with_githubs_message() {
    assert_refused(&[
        (
            "query Q($n: Int!) { viewer { id } }",
            "Variable $n is declared by Q but not used",
        ),
        (
            "{ user(login: $x) { id } }",
            "Variable $x is used by anonymous but not declared",
        ),
        (
            "query Q($x: Int!) { user(login: $x) { id } }",
            "Type mismatch on variable $x and argument login (Int! / String!)",
        ),
        (
            "query Q($x: String) { user(login: $x) { id } }",
            "Type mismatch on variable $x and argument login (String / String!)",
        ),
        (
            "query Q($x: Nobody) { user(login: $x) { id } }",
            "Nobody isn't a defined input type (on $x)",
        ),
        (
            "{ user(login: 42) { id } }",
            "Argument 'login' on Field 'user' has an invalid value. Expected type 'String!'.",
        ),
        (
            "mutation { closeIssue(input: {}) { issue { id } } }",
            "Argument 'issueId' on InputObject 'CloseIssueInput' is required",
        ),
        (
            "mutation { closeIssue(input: {issueId: \"I\", why: 1}) { issue { id } } }",
            "InputObject 'CloseIssueInput' doesn't accept argument 'why'",
        ),
        (
            "mutation { closeIssue(input: {issueId: \"I\", stateReason: BORED}) { issue { id } } }",
            "Argument 'stateReason' on Field 'closeIssue' has an invalid value. Expected type 'IssueClosedStateReason'.",
        ),
        (
            "mutation { closeIssue(input: {issueId: \"I\", stateReason: \"COMPLETED\"}) { issue { id } } }",
            "Argument 'stateReason' on Field 'closeIssue' has an invalid value. Expected type 'IssueClosedStateReason'.",
        ),
    ]);
}

#[test]
fn what_is_not_there_is_null_with_an_error() {
    let github = world();
    let cases = [
        (
            "{ repository(owner: \"acme\", name: \"widgets\") { pullRequests { nodes { id } } } }",
            "You must provide a `first` or `last` value to properly paginate the `pullRequests` connection.",
        ),
        (
            "{ repository(owner: \"acme\", name: \"widgets\") { pullRequests(first: 101) { nodes { id } } } }",
            "Requesting 101 records on the `pullRequests` connection exceeds the `first` limit of 100 records.",
        ),
        (
            "{ organization(login: \"octo\") { id } }",
            "Could not resolve to an Organization with the login of 'octo'.",
        ),
        (
            "{ repository(owner: \"acme\", name: \"nothing\") { id } }",
            "Could not resolve to a Repository with the name 'acme/nothing'.",
        ),
        (
            "{ repository(owner: \"acme\", name: \"widgets\") { issue(number: 43) { id } } }",
            "Could not resolve to an Issue with the number of 43.",
        ),
        (
            "{ node(id: \"X\") { id } }",
            "Could not resolve to a node with the global id of 'X'",
        ),
    ];
    for (query, wanted) in cases {
        let answer = ask(&github, query, &json!({}));
        assert_eq!(answer["errors"][0]["message"], json!(wanted), "{query}");
        assert!(answer["data"].is_object(), "{query}");
    }
}

#[test]
fn variables_are_what_they_were_declared_to_be() {
    let github = world();
    let int = "query Q($n: Int!) { repository(owner: \"acme\", name: \"widgets\") { issue(number: $n) { number } } }";
    let input =
        "mutation M($input: CloseIssueInput!) { closeIssue(input: $input) { issue { id } } }";
    let cases = [
        (
            int,
            json!({ "n": "42" }),
            "Variable $n of type Int! was provided invalid value: Could not coerce value \"42\" to Int",
        ),
        (
            int,
            json!({}),
            "Variable $n of type Int! was provided invalid value: Expected value to not be null",
        ),
        (
            int,
            json!({ "n": null }),
            "Variable $n of type Int! was provided invalid value: Expected value to not be null",
        ),
        (
            int,
            json!({ "n": 3_000_000_000_u64 }),
            "Variable $n of type Int! was provided invalid value: Could not coerce value 3000000000 to Int",
        ),
        (
            input,
            json!({ "input": {} }),
            "Variable $input of type CloseIssueInput! was provided invalid value: issueId: Expected value to not be null",
        ),
        (
            input,
            json!({ "input": { "issueId": "I", "x": 1 } }),
            "Variable $input of type CloseIssueInput! was provided invalid value: Field is not defined on CloseIssueInput: x",
        ),
        (
            input,
            json!({ "input": "I" }),
            "Variable $input of type CloseIssueInput! was provided invalid value: Could not coerce value \"I\" to CloseIssueInput",
        ),
    ];
    for (query, variables, wanted) in cases {
        assert_eq!(complaint(&github, query, &variables), wanted, "{variables}");
    }
    let answer = ask(&github, int, &json!({ "n": 42, "unknown": true }));
    assert_eq!(
        answer,
        json!({ "data": { "repository": { "issue": { "number": 42 } } } })
    );
}

#[test]
fn aliases_fragments_and_defaults_do_what_they_should() {
    let github = world();
    let query = r#"
        query Q($count: Int = 1) {
          a: viewer { ...Who } b: viewer { __typename login }
          viewer { login } viewer { id }
          repository(owner: "ACME", name: "Widgets") {
            issueOrPullRequest(number: 43) { __typename ... on Issue { title } ... on PullRequest { state } }
            pullRequests(first: $count) { totalCount pageInfo { hasNextPage endCursor } }
          }
          repositoryOwner(login: "nobody") { login }
        }
        fragment Who on Actor { login }"#;

    let answer = ask(&github, query, &json!({}));

    assert_eq!(
        answer,
        json!({ "data": {
            "a": { "login": "octo" },
            "b": { "__typename": "User", "login": "octo" },
            "viewer": { "login": "octo", "id": "U_kwDO000001" },
            "repository": {
                "issueOrPullRequest": { "__typename": "PullRequest", "state": "OPEN" },
                "pullRequests": { "totalCount": 1, "pageInfo": { "hasNextPage": false, "endCursor": "cursor:0" } },
            },
            "repositoryOwner": null,
        } })
    );
}

#[test]
fn pages_meet_without_a_gap() {
    let github = world();
    let widgets = github.repository("acme", "widgets");
    for number in 0..4 {
        widgets.add_comment(42, LOGIN, &format!("Comment {number}"));
    }
    let page = |bounds: &str| {
        let query = format!(
            "{{ repository(owner: \"acme\", name: \"widgets\") {{ issue(number: 42) {{ \
             comments({bounds}) {{ nodes {{ body }} pageInfo {{ endCursor hasNextPage hasPreviousPage }} }} }} }} }}"
        );
        let comments =
            ask(&github, &query, &json!({}))["data"]["repository"]["issue"]["comments"].clone();
        let bodies = comments["nodes"].as_array().cloned().unwrap_or_default();
        let bodies: Vec<_> = bodies
            .iter()
            .map(|node| node["body"].as_str().unwrap().to_owned())
            .collect();
        (bodies.join(","), comments["pageInfo"].clone())
    };

    let (first, info) = page("first: 2");
    assert_eq!(first, "Mine,Comment 0");
    assert_eq!(info["hasNextPage"], json!(true));
    let (second, _) = page(&format!("first: 2, after: {}", info["endCursor"]));
    assert_eq!(second, "Comment 1,Comment 2");
    let (last, info) = page("last: 2");
    assert_eq!(last, "Comment 2,Comment 3");
    assert_eq!(
        (&info["hasNextPage"], &info["hasPreviousPage"]),
        (&json!(false), &json!(true))
    );
    assert_eq!(page("first: 5, after: \"cursor:99\"").0, "");
}

/// If a document is cut off or changed anywhere, it is refused and nothing else happens.
#[test]
fn no_garbage_brings_the_parser_down() {
    let text = r#"query Q($a: [Int!]! = [1, -2.5e3], $b: I = {x: "é\u0041\n"}) { x: f(a: $a, e: E, n: null) { ...F ... on T { y } } }"#;
    assert!(parser::document(text).is_ok());
    for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
        let _ = parser::document(&text[..end]);
        for byte in [
            "\"", "\\", "{", "}", "$", "...", "\u{0}", "9", "#", "\"\"\"",
        ] {
            let _ = parser::document(&format!("{}{byte}{}", &text[..end], &text[end..]));
        }
    }
    for (text, refused) in [
        ("{f".repeat(100_000), "Expected less nesting"),
        (
            format!("{{ f(a: {}) }}", "[".repeat(1000)),
            "Expected less nesting",
        ),
        (" ".repeat(300 << 10), "the document is too long"),
        (
            "{ f(a: \"never ends) }".to_owned(),
            "the string does not end",
        ),
        ("{ f(a: 1.2.3) }".to_owned(), "\"1.2.3\" is no number"),
    ] {
        let error = parser::document(&text).expect_err("it is garbage");
        assert!(error.message.starts_with(refused), "{error:?}");
    }
    assert_eq!(lexer::tokens("\u{feff} # nothing\n,,"), Ok(Vec::new()));
}

/// The stand-in resolves every field that its schema declares.
#[test]
fn every_declared_field_is_resolved() {
    let github = world();
    let widgets = github.repository("acme", "widgets");
    let PullRequest {
        number,
        head_sha: sha,
        ..
    } = widgets.pulls().remove(0);
    let token = Token::classic(LOGIN, &["repo", "project"]);
    let mut inside = github.shared.lock();
    let board = &mut inside.world.boards[0];
    for field in board.fields.clone() {
        let value = board.items[0].values.entry(field.id);
        value.or_insert_with(|| "set".to_owned());
    }
    let mut session = Session::new(&mut inside.world, "github.com", &token);
    let mut waiting = every_kind_of_object(&session, &sha, number);
    let mut resolved = 0;
    while let Some(object) = waiting.pop() {
        let type_name = session.type_name(&object);
        for field in Schema::github().fields(type_name).unwrap().keys() {
            let arguments: Map<_, _> = json!({
                "first": 10, "number": 42, "name": "Issue", "login": "acme", "owner": "acme",
                "qualifiedName": "refs/heads/main", "id": "I_kwDO000004", "input": {},
            })
            .as_object()
            .unwrap()
            .clone();
            let answer = session.resolve(&object, type_name, field, &arguments.into());
            let missing = matches!(&answer, Err(failure) if failure.kind == "STAND_IN");
            assert!(!missing, "{type_name}.{field} is declared but not resolved");
            resolved += 1;
            // All other objects are in the list already.
            if let Ok(answer) = answer {
                records(answer, &mut waiting);
            }
        }
    }
    assert!(resolved > 200, "{resolved}");
}

fn every_kind_of_object(session: &Session<'_>, sha: &str, number: u64) -> Vec<Object> {
    let repository = 0;
    let check = |index| {
        Object::Check(CheckKey {
            repository,
            sha: sha.to_owned(),
            index,
        })
    };
    let mut all = vec![
        Object::Root("Query"),
        Object::Root("Mutation"),
        Object::Account(0),
        Object::Account(1),
        Object::Repository(repository),
        Object::Branch {
            repository,
            name: "main".to_owned(),
        },
        Object::Commit {
            repository,
            sha: sha.to_owned(),
        },
        Object::Issue {
            repository,
            number: 42,
        },
        Object::PullRequest { repository, number },
        Object::Rollup {
            repository,
            sha: sha.to_owned(),
        },
        check(0),
        check(1),
        Object::Board(0),
        Object::BoardItem { board: 0, item: 0 },
    ];
    for field in 0..session.world.boards[0].fields.len() {
        all.push(Object::BoardField { board: 0, field });
        all.push(Object::BoardValue {
            board: 0,
            item: 0,
            field,
        });
    }
    all
}

/// The records in an answer, of whose fields nobody has asked yet.
fn records(answer: Resolved, found: &mut Vec<Object>) {
    match answer {
        Resolved::Object(record @ Object::Record(..)) => found.push(record),
        Resolved::List(items) => items.into_iter().for_each(|item| records(item, found)),
        Resolved::Object(_) | Resolved::Leaf(_) | Resolved::Refused(_) => {}
    }
}
