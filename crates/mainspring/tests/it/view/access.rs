//! Who is answered.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use mainspring_testkit::http::{raw, request};
use mainspring_testkit::view::View;

use super::{held_twice, key, view};
use crate::env::TestEnv;

#[test]
fn without_token_or_from_another_host_or_site_there_is_nothing_to_read() {
    let env = held_twice();
    let view = view(&env);
    let host = format!("127.0.0.1:{}", view.port());
    let get = |path: &str, headers: &[(&str, &str)]| {
        let answer = request(view.port(), "GET", path, headers, "");
        assert!(!answer.body.contains("Mainspring"), "{}", answer.body);
        answer.status
    };
    let path = view.path("");
    let host = ("Host", host.as_str());
    assert_eq!(get("/", &[host]), 403);
    assert_eq!(get("/style.css", &[host]), 403);
    assert_eq!(get("/00000000000000000000000000000000/", &[host]), 403);
    assert_eq!(get(&path, &[]), 403);
    assert_eq!(get(&path, &[("Host", "rebound.example")]), 403);
    let evil = ("Origin", "https://evil.example");
    assert_eq!(get(&path, &[host, evil]), 403);
    assert_eq!(view.get("").status, 200);
}

#[test]
fn only_the_loopback_interface_is_listened_on() {
    let env = TestEnv::new();
    let view = view(&env);
    assert!(view.address.starts_with("http://127.0.0.1:"));
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let port = format!(":{:04X}", view.port());
    let listens = |line: &&str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        fields.len() > 3 && fields[1].ends_with(&port) && fields[3] == "0A"
    };
    let lines: Vec<&str> = table.lines().filter(listens).collect();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("0100007F:"), "{lines:?}");
}

#[test]
fn no_answer_may_be_framed_cached_or_fetched_from_elsewhere() {
    let env = held_twice();
    let view = view(&env);
    for page in ["", "timeline", "style.css", "page.js", "nowhere"] {
        let head = view.get(page).head;
        for rule in [
            "default-src 'none'",
            "frame-ancestors 'none'",
            "nosniff",
            "Referrer-Policy: same-origin",
            "Cross-Origin-Resource-Policy: same-origin",
            "Cache-Control: no-store",
        ] {
            assert!(head.contains(rule), "{page}: {rule} is not in {head}");
        }
        assert!(!head.contains("Access-Control"), "{head}");
        assert!(!head.contains("Set-Cookie"), "{head}");
    }
}

#[test]
fn a_button_works_only_for_the_page_itself() {
    let env = held_twice();
    let view = view(&env);
    let form = format!("project={}&span=30m", key(&env));
    let status = || env.run(&["status"]).ok();
    let host = format!("127.0.0.1:{}", view.port());
    for headers in [
        vec![("Host", host.as_str())],
        vec![("Host", host.as_str()), ("Origin", "null")],
        vec![("Host", host.as_str()), ("Origin", "http://evil.example")],
        vec![("Host", "evil.example"), ("Origin", "http://evil.example")],
    ] {
        let answer = request(view.port(), "POST", &view.path("pause"), &headers, &form);
        assert_eq!(answer.status, 403, "{headers:?}");
    }
    assert!(!status().contains("paused"), "{}", status());
    assert_eq!(view.press("pause", &form).status, 303);
    assert!(
        status().contains("everything is paused until"),
        "{}",
        status()
    );
    assert_eq!(view.press("resume", &form).status, 303);
    assert!(!status().contains("paused"), "{}", status());
    let log = env.run(&["log"]).ok();
    assert!(log.contains("mainspring pause 1800s"), "{log}");
    assert!(log.contains("mainspring resume"), "{log}");
    // To resume what is resumed already changes nothing.
    assert_eq!(view.press("resume", &form).status, 303);
    assert!(!status().contains("paused"), "{}", status());
}

#[test]
fn a_button_with_nonsense_does_nothing_and_says_so() {
    let env = held_twice();
    let view = view(&env);
    let key = key(&env);
    for (button, form, status) in [
        ("pause", "span=30m".to_owned(), 400),
        ("pause", format!("project={key}&span=soon"), 400),
        (
            "pause",
            format!("project={key}&span=30m&machine=toaster"),
            400,
        ),
        ("pause", "project=elsewhere&span=30m".to_owned(), 404),
        ("stop", format!("project={key}"), 404),
    ] {
        assert_eq!(view.press(button, &form).status, status, "{button} {form}");
    }
    assert!(!env.run(&["status"]).ok().contains("paused"));
}

#[test]
fn an_agent_that_starts_the_page_can_press_nothing() {
    let env = held_twice();
    let view = View::start(env.command().env("CLAUDE_CODE_SESSION_ID", "s"));
    assert!(view.read_only);
    let form = format!("project={}&span=30m", key(&env));
    let answer = view.press("pause", &form);
    assert_eq!(answer.status, 403);
    assert!(answer.body.contains("an agent cannot"), "{}", answer.body);
    assert!(!env.run(&["status"]).ok().contains("paused"));
    let page = view.get(&format!("project?project={}", key(&env))).body;
    assert!(page.contains("its buttons do nothing"), "{page}");
}

#[test]
fn what_is_no_request_is_refused_and_the_page_goes_on() {
    let env = held_twice();
    let view = view(&env);
    assert_eq!(
        raw(view.port(), b"\x16\x03\x01 nonsense\r\n\r\n").status,
        400
    );
    let long = format!("GET /{} HTTP/1.1\r\n", "a".repeat(40_000));
    assert_eq!(raw(view.port(), long.as_bytes()).status, 413);
    let large = b"POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n";
    assert_eq!(raw(view.port(), large).status, 413);
    assert_eq!(raw(view.port(), b"DELETE / HTTP/1.1\r\n\r\n").status, 405);
    assert_eq!(view.get("").status, 200);
}

#[test]
fn more_connections_than_people_have_are_refused_and_the_page_goes_on() {
    let env = held_twice();
    let view = view(&env);
    let path = view.path("events");
    let host = format!("127.0.0.1:{}", view.port());
    let open = || {
        let mut stream = TcpStream::connect(("127.0.0.1", view.port())).unwrap();
        // Who refuses it may close before all of it is sent.
        let _ = write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        let mut status = [0; 12];
        let _ = stream.read_exact(&mut status);
        (stream, String::from_utf8_lossy(&status).into_owned())
    };
    let mut held = Vec::new();
    for _ in 0..64 {
        let (stream, status) = open();
        assert_eq!(status, "HTTP/1.1 200");
        held.push(stream);
    }
    assert_ne!(open().1, "HTTP/1.1 200");
    drop(held);
    // A closed connection is noticed at the next line that is sent.
    env.run(&["pulse", "off"]).ok();
    mainspring_testkit::process::wait_until("there is room again", || open().1 == "HTTP/1.1 200");
}
