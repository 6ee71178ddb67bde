//! The server that plays a script on loopback.

use std::io::{Cursor, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};
use tiny_http::{Header, Method, Response, Server};

use super::request::{Purpose, Request};
use super::script::Script;
use super::turn::{Reply, Turn};
use super::wire::{self, Wire};
use crate::process::wait_until;

/// The limit for a request: more than the largest that the client was seen to send.
const BODY_LIMIT: u64 = 64 << 20;

/// A scripted model, alive until it is dropped.
#[derive(Debug)]
pub struct Model {
    stage: Arc<Stage>,
    url: String,
    listener: Option<JoinHandle<()>>,
}

struct Stage {
    server: Server,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    script: Option<Script>,
    requests: Vec<Request>,
    /// Requests that must never be answered. Dropping one would answer it.
    hung: Vec<tiny_http::Request>,
    /// Connections on which an answer has begun. Dropping one would end the answer.
    begun: Vec<Box<dyn Write + Send>>,
}

impl Model {
    /// Starts playing `script`, or simply the turns of its main part.
    pub fn play(script: impl Into<Script>) -> Self {
        let server = Server::http("127.0.0.1:0").expect("loopback has a free port");
        let port = server
            .server_addr()
            .to_ip()
            .expect("an address, not a path")
            .port();
        let stage = Arc::new(Stage {
            server,
            state: Mutex::new(State {
                script: Some(script.into()),
                ..State::default()
            }),
        });
        let listener = thread::spawn({
            let stage = Arc::clone(&stage);
            move || listen(&stage)
        });
        Self {
            stage,
            url: format!("http://127.0.0.1:{port}"),
            listener: Some(listener),
        }
    }

    /// For `ANTHROPIC_BASE_URL`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The requests that consumed a turn, in order.
    pub fn requests(&self) -> Vec<Request> {
        self.asked(Purpose::Turn)
    }

    /// The client's own chores, which the script does not see.
    pub fn chores(&self) -> Vec<Request> {
        self.asked(Purpose::Chore)
    }

    /// Whether `text` reached the model in any message of any turn.
    pub fn saw_text(&self, text: &str) -> bool {
        self.requests().iter().any(|request| request.has_text(text))
    }

    /// Waits until `text` has reached the model.
    #[track_caller]
    pub fn wait_for_text(&self, text: &str) {
        wait_until(&format!("the model is told {text:?}"), || {
            self.saw_text(text)
        });
    }

    /// Fails unless exactly the scripted turns were asked for.
    #[track_caller]
    pub fn assert_played_out(&self) {
        let loose = self.stage.state().script().loose_ends();
        assert!(loose.is_empty(), "the script was not followed: {loose:#?}");
    }

    fn asked(&self, purpose: Purpose) -> Vec<Request> {
        self.stage
            .state()
            .requests
            .iter()
            .filter(|request| request.purpose() == purpose)
            .cloned()
            .collect()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.stage.server.unblock();
        if let Some(listener) = self.listener.take() {
            // A panic there has already been printed, and this may run during one.
            let _ = listener.join();
        }
    }
}

impl Stage {
    fn state(&self) -> MutexGuard<'_, State> {
        // A closure of a test may panic while it is called; what was recorded before is still
        // right.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn script(&mut self) -> &mut Script {
        self.script.get_or_insert_with(|| Script::new([]))
    }
}

fn listen(stage: &Arc<Stage>) {
    while let Ok(incoming) = stage.server.recv() {
        let stage = Arc::clone(stage);
        // A thread per request: a turn that waits must not block a reviewer.
        thread::spawn(move || answer(&stage, incoming));
    }
}

fn answer(stage: &Stage, mut incoming: tiny_http::Request) {
    let path = incoming
        .url()
        .split('?')
        .next()
        .unwrap_or_default()
        .to_owned();
    let wire = match (incoming.method(), Wire::of_path(&path)) {
        (Method::Post, Some(wire)) => wire,
        (Method::Post, None)
            if path.ends_with("/count_tokens") || path.ends_with(":countTokens") =>
        {
            let count = json!({"input_tokens": 100, "totalTokens": 100});
            return send(incoming, json(200, &count));
        }
        (Method::Head, _) => return send(incoming, json(200, &Value::Null)),
        (Method::Get, _) if path.ends_with("/models") => {
            let none = json!({"object": "list", "data": [], "models": []});
            return send(incoming, json(200, &none));
        }
        _ => {
            return send(
                incoming,
                json(
                    404,
                    &wire::error(Wire::Messages, 404, "not_found_error", &path),
                ),
            );
        }
    };
    let Some(request) = read(&mut incoming, path, wire) else {
        let body = wire::error(wire, 400, "invalid_request_error", "not JSON");
        return send(incoming, json(400, &body));
    };
    let (serial, turn) = {
        let mut now = stage.state();
        now.requests.push(request.clone());
        let turn = match request.purpose() {
            Purpose::Turn => now.script().next(&request),
            Purpose::Chore => Turn::say("ok"),
        };
        (now.requests.len(), turn)
    };
    perform(stage, incoming, &request, serial, turn);
}

fn perform(
    stage: &Stage,
    incoming: tiny_http::Request,
    request: &Request,
    serial: usize,
    turn: Turn,
) {
    if let Some(cue) = &turn.cue {
        cue.wait();
    }
    match turn.reply {
        Reply::Decide(decide) => {
            perform(stage, incoming, request, serial, decide(request));
        }
        Reply::Hang => stage.state().hung.push(incoming),
        Reply::Half(blocks) => {
            let reply = wire::Reply {
                serial,
                model: request.model(),
                blocks: &blocks,
            };
            let begun = begin(incoming, &request.wire.begin(&request.path, &reply));
            stage.state().begun.push(begun);
        }
        Reply::Error {
            status,
            kind,
            message,
        } => {
            send(
                incoming,
                json(status, &wire::error(request.wire, status, kind, &message)),
            );
        }
        Reply::Message(blocks) => {
            let reply = wire::Reply {
                serial,
                model: request.model(),
                blocks: &blocks,
            };
            let (kind, body) = request.wire.write(&request.path, &request.body, &reply);
            send(incoming, response(200, kind, body));
        }
    }
}

/// Sends the beginning of a stream. Written by hand, because a response of the library's is sent
/// only once it is complete.
fn begin(incoming: tiny_http::Request, body: &str) -> Box<dyn Write + Send> {
    let mut connection = incoming.into_writer();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    // The client may be gone: a test may kill it.
    let _ = connection.write_all([head, body].concat().as_bytes());
    let _ = connection.flush();
    connection
}

fn read(incoming: &mut tiny_http::Request, path: String, wire: Wire) -> Option<Request> {
    let headers = incoming
        .headers()
        .iter()
        .map(|header| (header.field.to_string(), header.value.to_string()))
        .collect();
    let mut body = Vec::new();
    incoming
        .as_reader()
        .take(BODY_LIMIT)
        .read_to_end(&mut body)
        .ok()?;
    let body = serde_json::from_slice(&body).ok()?;
    Some(Request {
        path,
        wire,
        headers,
        body,
    })
}

fn json(status: u16, body: &Value) -> Response<Cursor<Vec<u8>>> {
    response(status, "application/json", body.to_string())
}

fn response(status: u16, kind: &str, body: String) -> Response<Cursor<Vec<u8>>> {
    let kind = Header::from_bytes("content-type", kind).expect("an ASCII header");
    Response::from_string(body)
        .with_status_code(status)
        .with_header(kind)
}

fn send(incoming: tiny_http::Request, response: Response<Cursor<Vec<u8>>>) {
    // The client may be gone: a test may kill it.
    let _ = incoming.respond(response);
}

impl std::fmt::Debug for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stage").finish_non_exhaustive()
    }
}
