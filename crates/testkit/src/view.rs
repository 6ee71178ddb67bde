//! `mainspring view`, started for a test or a picture.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::http::{self, Answer};
use crate::process::Held;

/// A page that is being served. Dropping it ends the server.
#[derive(Debug)]
pub struct View {
    _server: Held,
    /// What it printed.
    pub said: Value,
    pub address: String,
    pub read_only: bool,
}

impl View {
    /// Starts `command view`, on a port of its own.
    ///
    /// # Panics
    /// When it does not say its address.
    pub fn start(command: &mut Command) -> Self {
        command.args(["view", "--json"]).stdout(Stdio::piped());
        let mut server = Held::start(command);
        let mut said = BufReader::new(server.stdout());
        let mut text = String::new();
        while !text.contains('}') {
            let read = said.read_line(&mut text).expect("its output can be read");
            assert!(read > 0, "it ended: {text}");
        }
        let said: Value = serde_json::from_str(&text).expect("it prints JSON");
        Self {
            _server: server,
            address: said["address"].as_str().expect("an address").into(),
            read_only: said["read_only"] == true,
            said,
        }
    }

    pub fn port(&self) -> u16 {
        let parts: Vec<&str> = self.address.split([':', '/']).collect();
        parts[4].parse().expect("a port")
    }

    /// The path of a page, with the token.
    pub fn path(&self, page: &str) -> String {
        let (_, path) = self.address.split_at("http://".len());
        let (_, path) = path.split_once('/').expect("a path");
        format!("/{path}{page}")
    }

    /// A page, as a browser asks for it.
    pub fn get(&self, page: &str) -> Answer {
        let host = format!("127.0.0.1:{}", self.port());
        http::request(self.port(), "GET", &self.path(page), &[("Host", &host)], "")
    }

    /// A button, as the page's own form presses it.
    pub fn press(&self, button: &str, form: &str) -> Answer {
        let host = format!("127.0.0.1:{}", self.port());
        let origin = format!("http://{host}");
        let headers = [("Host", host.as_str()), ("Origin", origin.as_str())];
        http::request(self.port(), "POST", &self.path(button), &headers, form)
    }
}
