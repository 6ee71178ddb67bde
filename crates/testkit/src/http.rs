//! One HTTP request on loopback, with exactly the headers that are given.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::process::PATIENCE;

#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

/// # Panics
/// When nobody answers.
pub fn request(
    port: u16,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    if method == "POST" {
        text += &format!("Content-Length: {}\r\n", body.len());
    }
    raw(port, format!("{text}\r\n{body}").as_bytes())
}

/// Sends these bytes, and reads the answer.
///
/// # Panics
/// When nobody answers.
pub fn raw(port: u16, bytes: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("somebody listens");
    let limit = stream.set_read_timeout(Some(PATIENCE));
    limit.expect("a socket has a timeout");
    // Who refuses a request may close before all of it is sent.
    let _ = stream.write_all(bytes);
    parse(&read(&mut stream))
}

/// Reads as much as the head says, or until the end.
fn read(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 16 << 10];
    while let Ok(length @ 1..) = stream.read(&mut chunk) {
        bytes.extend_from_slice(&chunk[..length]);
        let text = String::from_utf8_lossy(&bytes);
        let (head, _) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            let named = name.eq_ignore_ascii_case("content-length");
            named.then(|| value.trim().parse::<usize>().ok())?
        });
        if length.is_some_and(|length| bytes.len() >= head.len() + 4 + length) {
            break;
        }
    }
    bytes
}

fn parse(bytes: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    Answer {
        status: status.unwrap_or_else(|| panic!("no answer: {text:?}")),
        head: head.into(),
        body: body.into(),
    }
}
