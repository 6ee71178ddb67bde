//! As much HTTP/1.1 as `gh` speaks: one request on one connection.
//!
//! Written by hand because the faults need the socket itself: a reply that
//! stops half way, a connection that ends without one.

use std::io::{self, BufRead, BufReader, Read, Write};

use serde_json::Value;

/// Request line and headers together.
const HEAD_LIMIT: u64 = 64 << 10;
const BODY_LIMIT: u64 = 8 << 20;

#[derive(Debug, Default)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) target: String,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// Reads one request; `None` if the client closed the connection without one.
    pub(crate) fn read(stream: impl Read) -> io::Result<Option<Self>> {
        let mut stream = BufReader::new(stream);
        let mut head = stream.by_ref().take(HEAD_LIMIT);
        let line = line(&mut head)?;
        if line.is_empty() {
            return Ok(None);
        }
        let mut words = line.split(' ');
        let (Some(method), Some(target), Some("HTTP/1.1")) =
            (words.next(), words.next(), words.next())
        else {
            return Err(invalid("no request line of HTTP/1.1"));
        };
        let mut request = Self {
            method: method.to_owned(),
            target: target.to_owned(),
            ..Self::default()
        };
        loop {
            let line = self::line(&mut head)?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line
                .split_once(':')
                .ok_or_else(|| invalid("a header without a colon"))?;
            request
                .headers
                .push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        request.body = request.read_body(stream)?;
        Ok(Some(request))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The body as JSON; null if it is not JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    fn read_body(&self, mut stream: impl BufRead) -> io::Result<Vec<u8>> {
        if self.header("transfer-encoding") == Some("chunked") {
            return chunked(stream);
        }
        let length = self.header("content-length").unwrap_or("0");
        let length = length
            .parse()
            .map_err(|_| invalid("Content-Length is not a number"))?;
        exactly(&mut stream, length)
    }
}

fn line(stream: &mut impl BufRead) -> io::Result<String> {
    let mut bytes = Vec::new();
    stream.read_until(b'\n', &mut bytes)?;
    if bytes.last().is_some_and(|last| *last != b'\n') {
        return Err(invalid("a line that does not end, or too many of them"));
    }
    let text = String::from_utf8(bytes).map_err(|_| invalid("a header that is not UTF-8"))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

/// The chunked body that `gh api --input -` sends, because it does not know the length beforehand.
fn chunked(mut stream: impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = line(&mut stream.by_ref().take(64))?;
        let size =
            u64::from_str_radix(&size, 16).map_err(|_| invalid("a chunk without its size"))?;
        let total = size.saturating_add(body.len() as u64);
        if total > BODY_LIMIT {
            return Err(invalid("the body is too long"));
        }
        body.extend(exactly(&mut stream, size)?);
        line(&mut stream.by_ref().take(2))?;
        if size == 0 {
            return Ok(body);
        }
    }
}

fn exactly(stream: &mut impl BufRead, length: u64) -> io::Result<Vec<u8>> {
    if length > BODY_LIMIT {
        return Err(invalid("the body is too long"));
    }
    let mut body = Vec::new();
    stream.take(length).read_to_end(&mut body)?;
    if body.len() as u64 == length {
        Ok(body)
    } else {
        Err(invalid("the body stops short"))
    }
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Response {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self {
            status,
            headers: vec![(
                "Content-Type".to_owned(),
                "application/json; charset=utf-8".to_owned(),
            )],
            body: body.to_string().into_bytes(),
        }
    }

    /// An HTML page, as a proxy in front of the API sends it.
    pub(crate) fn html(status: u16, page: &str) -> Self {
        Self {
            status,
            headers: vec![("Content-Type".to_owned(), "text/html".to_owned())],
            body: page.as_bytes().to_vec(),
        }
    }

    pub(crate) fn text(status: u16, text: &str) -> Self {
        Self {
            status,
            headers: vec![("Content-Type".to_owned(), "text/plain".to_owned())],
            body: text.as_bytes().to_vec(),
        }
    }

    pub(crate) fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers
            .retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn write(&self, mut stream: impl Write) -> io::Result<()> {
        stream.write_all(&self.to_bytes())
    }

    /// The head and half of the body, which contradicts its length.
    pub(crate) fn write_half(&self, mut stream: impl Write) -> io::Result<()> {
        let bytes = self.to_bytes();
        stream.write_all(&bytes[..bytes.len() - self.body.len().div_ceil(2)])
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes =
            format!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status)).into_bytes();
        for (name, value) in &self.headers {
            bytes.extend(format!("{name}: {value}\r\n").into_bytes());
        }
        bytes.extend(
            format!(
                "Content-Length: {}\r\nConnection: close\r\n\r\n",
                self.body.len()
            )
            .into_bytes(),
        );
        bytes.extend(&self.body);
        bytes
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        422 => "Unprocessable Entity",
        429 => "Too Many Requests",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        _ => "Other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> io::Result<Option<Request>> {
        Request::read(text.as_bytes())
    }

    #[test]
    fn a_body_comes_with_its_length_or_in_chunks() {
        for text in [
            "POST /graphql HTTP/1.1\r\nHost: api.github.com\r\ncontent-LENGTH: 9\r\n\r\n{\"a\":\"b\"}beyond",
            "POST /graphql HTTP/1.1\r\nHost: api.github.com\r\nTransfer-Encoding: chunked\r\n\r\n\
             4\r\n{\"a\"\r\n5\r\n:\"b\"}\r\n0\r\n\r\n",
        ] {
            let request = read(text).unwrap().unwrap();

            assert_eq!(
                (request.method.as_str(), request.target.as_str()),
                ("POST", "/graphql")
            );
            assert_eq!(request.header("host"), Some("api.github.com"));
            assert_eq!(request.json(), serde_json::json!({ "a": "b" }));
        }
    }

    #[test]
    fn garbage_is_refused_and_silence_is_nothing() {
        assert!(read("").unwrap().is_none());
        let endless = format!("GET / HTTP/1.1\r\nA: {}\r\n\r\n", "x".repeat(70 << 10));
        for text in [
            "GET /",
            "GET /\r\n\r\n",
            "GET / HTTP/0.9\r\n\r\n",
            "GET / HTTP/1.1\r\nno colon\r\n\r\n",
            "GET / HTTP/1.1\r\nContent-Length: many\r\n\r\n",
            "GET / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
            "GET / HTTP/1.1\r\nContent-Length: 3\r\n\r\nab",
            "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
            "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
            endless.as_str(),
        ] {
            assert!(read(text).is_err(), "{text:.60}");
        }
        assert!(Request::read(&b"\xff\xfe\n"[..]).is_err());
    }

    #[test]
    fn half_a_reply_is_shorter_than_it_says() {
        let response =
            Response::json(201, &serde_json::json!({ "number": 7 })).with_header("X-A", "b");
        let [mut whole, mut half] = [Vec::new(), Vec::new()];

        response.write(&mut whole).unwrap();
        response.write_half(&mut half).unwrap();

        let whole = String::from_utf8(whole).unwrap();
        assert_eq!(
            whole,
            "HTTP/1.1 201 Created\r\nContent-Type: application/json; charset=utf-8\r\nX-A: b\r\n\
             Content-Length: 12\r\nConnection: close\r\n\r\n{\"number\":7}"
        );
        assert_eq!(String::from_utf8(half).unwrap(), whole[..whole.len() - 6]);
    }
}
