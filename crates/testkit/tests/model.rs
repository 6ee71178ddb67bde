//! The scripted model as any client of the Messages API sees it.

#![expect(clippy::expect_used, reason = "a test fails where it stands")]

use std::io::{Read, Write};
use std::net::TcpStream;

use mainspring_testkit::model::{Model, Script, Turn};
use mainspring_testkit::process::PATIENCE;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

/// One request over a connection of its own: the status and the body.
fn send(model: &Model, method: &str, path: &str, body: &str) -> (u16, String) {
    let address = model.url().trim_start_matches("http://");
    let mut connection = TcpStream::connect(address).expect("the model listens");
    connection
        .set_read_timeout(Some(PATIENCE))
        .expect("a limit");
    let length = body.len();
    write!(
        connection,
        "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .expect("it is taken");
    let mut answer = String::new();
    connection.read_to_string(&mut answer).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    let status = head.split(' ').nth(1).expect("a status");
    (status.parse().expect("a number"), body.to_owned())
}

fn ask(model: &Model, request: &Value) -> (u16, String) {
    send(
        model,
        "POST",
        "/v1/messages?beta=true",
        &request.to_string(),
    )
}

fn request(name: &str) -> Value {
    json!({"model": name, "tools": [{"name": "Bash"}], "messages": [
        {"role": "user", "content": [{"type": "text", "text": "hello"}]},
    ]})
}

#[test]
fn a_stream_spells_the_message_event_by_event() {
    let model = Model::play([Turn::say("Hi.").then_call("Bash", json!({"command": "ls"}))]);
    let mut streamed = request("claude-sonnet");
    streamed["stream"] = json!(true);

    let (status, body) = ask(&model, &streamed);

    assert_eq!(status, 200);
    let events: Vec<(&str, Value)> = body
        .split_terminator("\n\n")
        .map(|event| {
            let (name, data) = event.split_once('\n').expect("a name and data");
            let name = name.strip_prefix("event: ").expect("a name");
            let data = data.strip_prefix("data: ").expect("data");
            (name, serde_json::from_str(data).expect("JSON"))
        })
        .collect();
    let names: Vec<_> = events.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        names,
        [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]
    );
    assert!(events.iter().all(|(name, data)| data["type"] == *name));
    assert_eq!(
        events[2].1["delta"],
        json!({"type": "text_delta", "text": "Hi."})
    );
    assert_eq!(
        events[5].1["delta"],
        json!({"type": "input_json_delta", "partial_json": r#"{"command":"ls"}"#})
    );
    assert_eq!(events[7].1["delta"]["stop_reason"], "tool_use");
}

/// Whichever API the client speaks, it gets the text, and not what ends the message.
#[test]
fn half_a_message_has_no_end() {
    for (path, end) in [
        ("/v1/messages", "message_stop"),
        ("/v1/responses", "response.completed"),
        ("/v1/chat/completions", "[DONE]"),
        ("/v1beta/models/x:streamGenerateContent", "STOP"),
    ] {
        let model = Model::play([Turn::half("Half\nof it.")]);
        let mut streamed = request("any");
        streamed["stream"] = json!(true);
        let tool = json!({"name": "Bash", "functionDeclarations": [{"name": "Bash"}]});
        streamed["tools"] = json!([tool]);
        let body = streamed.to_string();
        let address = model.url().trim_start_matches("http://");
        let mut connection = TcpStream::connect(address).expect("the model listens");
        let length = body.len();
        let head = format!("POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n");
        let sent = connection.write_all([head, body].concat().as_bytes());
        sent.expect("it is taken");
        let mut answer = Vec::new();
        let has = |answer: &[u8], text: &str| String::from_utf8_lossy(answer).contains(text);
        while !has(&answer, r"Half\nof it.") {
            let mut piece = vec![0; 1 << 16];
            let length = connection.read(&mut piece).expect("an answer");
            assert!(
                length > 0,
                "{path} ended: {}",
                String::from_utf8_lossy(&answer)
            );
            answer.extend_from_slice(&piece[..length]);
        }
        assert!(!has(&answer, end), "{path}");
    }
}

#[test]
fn a_request_without_a_stream_gets_the_message_whole() {
    let model = Model::play([Turn::say("Hi.")]);

    let (status, body) = ask(&model, &request("claude-sonnet"));

    let body: Value = serde_json::from_str(&body).expect("JSON");
    assert_eq!(status, 200);
    assert_eq!(body["content"], json!([{"type": "text", "text": "Hi."}]));
    assert_eq!(body["stop_reason"], "end_turn");
}

#[test]
fn each_part_of_a_script_is_played_to_those_it_is_for() {
    let model = Model::play(
        Script::new([Turn::say("main 1"), Turn::say("main 2")])
            .for_model("opus", [Turn::say("opus 1")])
            .and_then_always(|_| Turn::say("opus again"))
            .when_told("a secret", [Turn::say("told")]),
    );
    let mut told = request("claude-sonnet");
    told["messages"][0]["content"] = json!("here is a secret");

    for (asked, said) in [
        (request("claude-sonnet-5-5"), "main 1"),
        (request("claude-opus-5-5"), "opus 1"),
        (told, "told"),
        (request("claude-opus-5-5"), "opus again"),
        (request("claude-opus-5-5"), "opus again"),
        (request("claude-sonnet-5-5"), "main 2"),
    ] {
        assert!(ask(&model, &asked).1.contains(said), "{said}");
    }
    model.assert_played_out();
}

#[test]
#[should_panic(expected = "main: 1 turns were never asked for")]
fn a_turn_never_asked_for_is_a_loose_end() {
    Model::play([Turn::say("unheard")]).assert_played_out();
}

#[test]
#[should_panic(expected = "main: asked 1 times more than scripted")]
fn a_question_too_many_is_a_loose_end() {
    let model = Model::play([]);
    ask(&model, &request("claude-sonnet"));
    model.assert_played_out();
}

#[test]
fn errors_are_worded_as_the_api_words_them() {
    let model = Model::play([Turn::error(529)]);

    let (status, body) = ask(&model, &request("claude-sonnet"));

    assert_eq!(status, 529);
    assert_eq!(
        serde_json::from_str::<Value>(&body).expect("JSON"),
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "scripted 529"}})
    );
}

#[test]
fn errands_and_garbage_consume_no_turn() {
    let model = Model::play([Turn::say("unheard")]);
    let title =
        json!({"model": "claude-haiku", "messages": [{"role": "user", "content": "a title"}]});
    let table = [
        ("POST", "/v1/messages", title.to_string(), 200),
        ("POST", "/v1/messages", "{ not JSON".to_owned(), 400),
        ("POST", "/v1/messages", String::new(), 400),
        ("POST", "/v1/messages/count_tokens", "{}".to_owned(), 200),
        ("HEAD", "/", String::new(), 200),
        ("GET", "/api/hello", String::new(), 404),
        ("POST", "/../../etc", "[[[[".to_owned(), 404),
    ];
    for (method, path, body, expected) in table {
        let (status, _) = send(&model, method, path, &body);
        assert_eq!(status, expected, "{method} {path} {body}");
    }
    assert_eq!((model.requests().len(), model.chores().len()), (0, 1));
}

#[test]
fn what_was_said_is_found_in_every_shape_of_content() {
    let model = Model::play(Script::new([]).and_then_always(|_| Turn::say("ok")));
    let asked = json!({"model": "m", "tools": [{"name": "Bash"}], "messages": [
        {"role": "user", "content": "plain text"},
        {"role": "assistant", "content": [{"type": "tool_use", "input": {"command": "hidden"}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "content": "short result"},
            {"type": "tool_result", "content": [{"type": "text", "text": "long result"}]},
            {"type": "text", "text": "a reminder"},
        ]},
        {"role": "system", "content": "late instructions"},
    ]});

    ask(&model, &asked);

    let request = &model.requests()[0];
    assert_eq!(request.tool_results(), ["short result", "long result"]);
    assert_eq!(
        request.news(),
        [
            "short result",
            "long result",
            "a reminder",
            "late instructions"
        ]
    );
    assert!(model.saw_text("plain text"));
    assert!(
        !model.saw_text("hidden"),
        "the model's own words are not news to it"
    );
}

#[test]
fn a_turn_that_waits_keeps_nobody_else_waiting() {
    let model = Model::play(Script::new([Turn::hang()]).for_model("opus", [Turn::say("quick")]));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let address = model.url().trim_start_matches("http://");
            let mut hung = TcpStream::connect(address).expect("the model listens");
            let body = request("claude-sonnet").to_string();
            let head = format!(
                "POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            hung.write_all((head + &body).as_bytes())
                .expect("it is taken");
            model.wait_for_text("hello");
            assert!(ask(&model, &request("claude-opus")).1.contains("quick"));
        });
    });
    model.assert_played_out();
}
