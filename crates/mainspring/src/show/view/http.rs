//! HTTP/1.1, as much of it as one page needs: one request per connection, and a limit on
//! everything that a stranger on this computer could send.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The request line and all headers.
const HEAD: usize = 16 << 10;
const HEADERS: usize = 64;
/// A form with the name of a project, a machine and a time span.
const BODY: usize = 4 << 10;
/// How long a whole request may take to arrive, and one write to leave.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Get,
    Post,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) method: Method,
    pub(super) path: String,
    /// Without the question mark.
    pub(super) query: String,
    pub(super) host: Option<String>,
    pub(super) origin: Option<String>,
    /// `Sec-Fetch-Site`: how the page that made the request relates to us, in the browser's word.
    pub(super) fetch_site: Option<String>,
    pub(super) body: Vec<u8>,
}

/// Why there is no request to answer.
#[derive(Debug)]
pub(super) enum Unreadable {
    /// The other side left, or took too long: there is nobody to answer.
    Gone,
    /// What it sent is not a request of ours.
    Bad(Status),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Ok,
    SeeOther,
    BadRequest,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    Conflict,
    TooLarge,
    Busy,
}

impl Status {
    const fn line(self) -> &'static str {
        match self {
            Self::Ok => "200 OK",
            Self::SeeOther => "303 See Other",
            Self::BadRequest => "400 Bad Request",
            Self::Forbidden => "403 Forbidden",
            Self::NotFound => "404 Not Found",
            Self::MethodNotAllowed => "405 Method Not Allowed",
            Self::Conflict => "409 Conflict",
            Self::TooLarge => "413 Content Too Large",
            Self::Busy => "503 Service Unavailable",
        }
    }
}

/// One answer.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) status: Status,
    pub(super) kind: &'static str,
    /// Where to go on, if not here.
    pub(super) location: Option<String>,
    pub(super) body: Vec<u8>,
}

pub(super) const HTML: &str = "text/html; charset=utf-8";
pub(super) const TEXT: &str = "text/plain; charset=utf-8";

impl Response {
    pub(super) fn new(status: Status, kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            kind,
            location: None,
            body: body.into(),
        }
    }

    /// A sentence for whoever reads it.
    pub(super) fn text(status: Status, sentence: impl Into<String>) -> Self {
        Self::new(status, TEXT, sentence.into() + "\n")
    }

    pub(super) fn see(location: String) -> Self {
        Self {
            location: Some(location),
            ..Self::text(Status::SeeOther, "done")
        }
    }
}

/// The rules that a browser enforces for every answer: nothing is fetched from elsewhere, nobody
/// frames or embeds it, no other site learns its address, and nothing stays in a cache.
const POLICY: &str = "\
Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; \
img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'\r\n\
X-Frame-Options: DENY\r\n\
X-Content-Type-Options: nosniff\r\n\
Referrer-Policy: same-origin\r\n\
Cross-Origin-Resource-Policy: same-origin\r\n\
Cross-Origin-Opener-Policy: same-origin\r\n\
Cache-Control: no-store\r\n\
Connection: close\r\n";

/// Reads one request.
pub(super) fn read(stream: &mut TcpStream) -> Result<Request, Unreadable> {
    let gone = |_: io::Error| Unreadable::Gone;
    stream.set_write_timeout(Some(PATIENCE)).map_err(gone)?;
    let mut input = Input {
        deadline: Instant::now() + PATIENCE,
        stream,
        bytes: Vec::with_capacity(2 << 10),
    };
    loop {
        if let Some((head, request, length)) = parse(&input.bytes)? {
            if length > BODY {
                return Err(Unreadable::Bad(Status::TooLarge));
            }
            while input.bytes.len() < head + length {
                input.more()?;
            }
            let body = input.bytes[head..head + length].to_vec();
            return Ok(Request { body, ..request });
        }
        if input.bytes.len() >= HEAD {
            return Err(Unreadable::Bad(Status::TooLarge));
        }
        input.more()?;
    }
}

/// What has arrived so far.
struct Input<'a> {
    stream: &'a mut TcpStream,
    bytes: Vec<u8>,
    deadline: Instant,
}

impl Input<'_> {
    fn more(&mut self) -> Result<(), Unreadable> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let mut chunk = [0; 4 << 10];
        let read = if left.is_zero() {
            Ok(0)
        } else {
            let timeout = self.stream.set_read_timeout(Some(left));
            timeout.and_then(|()| self.stream.read(&mut chunk))
        };
        match read {
            Ok(0) | Err(_) => Err(Unreadable::Gone),
            Ok(length) => {
                self.bytes.extend_from_slice(&chunk[..length]);
                Ok(())
            }
        }
    }
}

/// The length of the head, the request without its body, and the body's length; `None` if the head
/// is not complete.
fn parse(bytes: &[u8]) -> Result<Option<(usize, Request, usize)>, Unreadable> {
    let bad = || Unreadable::Bad(Status::BadRequest);
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut head = httparse::Request::new(&mut headers);
    let end = match head.parse(bytes) {
        Ok(httparse::Status::Complete(end)) => end,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(bad()),
    };
    let method = match head.method {
        Some("GET") => Method::Get,
        Some("POST") => Method::Post,
        Some(_) | None => return Err(Unreadable::Bad(Status::MethodNotAllowed)),
    };
    let target = head.path.unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let header = |name: &str| single(head.headers, name).ok_or_else(bad);
    // A body of unknown length is none that our own page sends.
    if header("Transfer-Encoding")?.is_some() {
        return Err(bad());
    }
    let length = match header("Content-Length")? {
        None => 0,
        Some(length) => length.parse().map_err(|_| bad())?,
    };
    let request = Request {
        method,
        path: path.into(),
        query: query.into(),
        host: header("Host")?,
        origin: header("Origin")?,
        fetch_site: header("Sec-Fetch-Site")?,
        body: Vec::new(),
    };
    Ok(Some((end, request, length)))
}

/// A header's value, if there is one; `None` if there are several, or if it is no text.
#[expect(
    clippy::option_option,
    reason = "no header is fine, two of them are not"
)]
fn single(headers: &[httparse::Header<'_>], name: &str) -> Option<Option<String>> {
    let mut found = headers
        .iter()
        .filter(|header| header.name.eq_ignore_ascii_case(name));
    let value = found.next().map(|header| std::str::from_utf8(header.value));
    match (value.transpose(), found.next()) {
        (Ok(value), None) => Some(value.map(Into::into)),
        (Ok(_), Some(_)) | (Err(_), _) => None,
    }
}

/// Sends an answer. If nobody reads it, nothing is lost.
pub(super) fn answer(stream: &mut TcpStream, response: &Response) -> io::Result<()> {
    let location = response.location.as_ref();
    let location = location.map_or_else(String::new, |to| format!("Location: {to}\r\n"));
    let mut bytes = format!(
        "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{location}{POLICY}\r\n",
        response.status.line(),
        response.kind,
        response.body.len(),
    )
    .into_bytes();
    bytes.extend_from_slice(&response.body);
    stream.write_all(&bytes)?;
    stream.flush()
}

/// Begins an answer that goes on until one side leaves.
pub(super) fn begin_events(stream: &mut TcpStream) -> io::Result<()> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{POLICY}\r\n");
    stream.write_all(head.as_bytes())?;
    stream.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Option<(Request, usize)>, Status> {
        match parse(text.as_bytes()) {
            Ok(found) => Ok(found.map(|(_, request, length)| (request, length))),
            Err(Unreadable::Bad(status)) => Err(status),
            Err(Unreadable::Gone) => panic!("nothing was awaited"),
        }
    }

    #[test]
    fn a_request_is_read_once_its_head_is_complete() {
        let whole = "POST /t/pause?a=1 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n";
        for end in 0..whole.len() {
            assert_eq!(parsed(&whole[..end]), Ok(None), "{}", &whole[..end]);
        }
        let (request, length) = parsed(whole).unwrap().unwrap();
        assert_eq!((request.method, length), (Method::Post, 3));
        assert_eq!(
            (request.path.as_str(), request.query.as_str()),
            ("/t/pause", "a=1")
        );
        assert_eq!(request.host.as_deref(), Some("h"));
        assert_eq!(request.origin, None);
    }

    #[test]
    fn what_is_no_request_of_a_browser_is_refused() {
        for (text, status) in [
            ("PUT / HTTP/1.1\r\n\r\n", Status::MethodNotAllowed),
            ("\x16\x03\x01\x02\x00\x01", Status::BadRequest),
            (
                "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                Status::BadRequest,
            ),
            (
                "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                Status::BadRequest,
            ),
            (
                "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
                Status::BadRequest,
            ),
        ] {
            assert_eq!(parsed(text), Err(status), "{text:?}");
        }
    }
}
