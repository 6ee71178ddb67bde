//! A real browser: Debian's Chromium, driven through `WebDriver` over HTTP.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use serde_json::{Value, json};

use crate::clients;
use crate::http;
use crate::process::{Held, PATIENCE, POLL};

const DRIVER: &str = "/usr/bin/chromedriver";
const CHROMIUM: &str = "/usr/bin/chromium";
/// No sandbox, because tests may run as root; nothing but the page's own requests.
const FLAGS: [&str; 12] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
];
/// How `WebDriver` names an element in its answers.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// What the reader prefers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    Light,
    Dark,
}

impl Scheme {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

/// A browser with one window. Dropping it ends it.
#[derive(Debug)]
pub struct Browser {
    // Ended before its folder is deleted.
    _driver: Held,
    _home: tempfile::TempDir,
    port: u16,
    session: String,
}

impl Browser {
    /// `None` where browsers are to be skipped (`MAINSPRING_SKIP_BROWSER=1`).
    ///
    /// # Panics
    /// When it is not installed or does not start.
    pub fn start() -> Option<Self> {
        if std::env::var_os("MAINSPRING_SKIP_BROWSER").is_some_and(|value| value == "1") {
            return None;
        }
        let home = tempfile::tempdir().expect("a temporary folder");
        let mut command = Command::new(DRIVER);
        command
            .arg("--port=0")
            .env_clear()
            .env("HOME", home.path())
            .env("TMPDIR", home.path())
            .env("PATH", "/usr/bin:/bin")
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        assert!(
            Path::new(DRIVER).exists() && Path::new(CHROMIUM).exists(),
            "there is no browser: apt-get install chromium chromium-driver"
        );
        let mut driver = Held::start(&mut command);
        let port = port(&mut driver);
        let mut args: Vec<String> = FLAGS.map(Into::into).into();
        args.push(format!(
            "--user-data-dir={}",
            home.path().join("profile").display()
        ));
        let mut browser = Self {
            _driver: driver,
            _home: home,
            port,
            session: String::new(),
        };
        let options = json!({ "binary": CHROMIUM, "args": args });
        let capabilities = json!({ "browserName": "chrome", "goog:chromeOptions": options });
        let wanted = json!({ "capabilities": { "alwaysMatch": capabilities } });
        let started = browser.call("POST", "/session", &wanted);
        browser.session = started["sessionId"].as_str().expect("a session").into();
        Some(browser)
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        match self.try_call(method, path, body) {
            Ok(value) => value,
            Err(value) => panic!("{method} {path}: {value}"),
        }
    }

    /// The answer, or what is wrong.
    fn try_call(&self, method: &str, path: &str, body: &Value) -> Result<Value, Value> {
        let host = format!("127.0.0.1:{}", self.port);
        let headers = [
            ("Host", host.as_str()),
            ("Content-Type", "application/json"),
        ];
        let answer = http::request(self.port, method, path, &headers, &body.to_string());
        let mut value: Value = serde_json::from_str(&answer.body).expect("WebDriver speaks JSON");
        let value = value["value"].take();
        if answer.status == 200 {
            Ok(value)
        } else {
            Err(value)
        }
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.call("POST", &format!("/session/{}/{path}", self.session), body)
    }

    /// A command of the browser's own protocol.
    fn devtools(&self, command: &str, params: &Value) {
        let body = json!({ "cmd": command, "params": params });
        self.post("goog/cdp/execute", &body);
    }

    pub fn open(&self, address: &str) {
        self.post("url", &json!({ "url": address }));
    }

    /// The result of a function body that is run in the page.
    pub fn script(&self, body: &str) -> Value {
        self.post("execute/sync", &json!({ "script": body, "args": [] }))
    }

    /// Waits until an expression is true in the page.
    ///
    /// # Panics
    /// When it never is.
    #[track_caller]
    pub fn wait(&self, expression: &str) {
        let deadline = Instant::now() + PATIENCE;
        while self.script(&format!("return Boolean({expression})")) != true {
            assert!(
                Instant::now() < deadline,
                "waited for {expression} in:\n{}",
                self.text()
            );
            thread::sleep(POLL * 5);
        }
    }

    /// What a reader sees.
    pub fn text(&self) -> String {
        let text = self.script("return document.body.innerText");
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Clicks an element. If the page exchanges it in between, the new one is clicked.
    ///
    /// # Panics
    /// When it cannot be clicked.
    pub fn click(&self, selector: &str) {
        let using = json!({ "using": "css selector", "value": selector });
        let deadline = Instant::now() + PATIENCE;
        loop {
            let element = self.post("element", &using);
            let element = element[ELEMENT].as_str().expect("an element");
            let path = format!("/session/{}/element/{element}/click", self.session);
            match self.try_call("POST", &path, &json!({})) {
                Ok(_) => return,
                Err(why) => {
                    let stale = why["error"] == "stale element reference";
                    assert!(stale && Instant::now() < deadline, "{selector}: {why}");
                }
            }
        }
    }

    /// Presses and releases keys, one after the other. `\u{e004}` is Tab, `\u{e007}` Enter.
    pub fn keys(&self, keys: &str) {
        let actions: Vec<Value> = keys
            .chars()
            .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key })))
            .collect();
        let keyboard = json!({ "type": "key", "id": "keyboard", "actions": actions });
        self.post("actions", &json!({ "actions": [keyboard] }));
    }

    /// The size of what is shown, and what the reader prefers.
    pub fn look(&self, width: u32, height: u32, scheme: Scheme) {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", &size);
        let feature = json!({ "name": "prefers-color-scheme", "value": scheme.as_str() });
        self.devtools(
            "Emulation.setEmulatedMedia",
            &json!({ "features": [feature] }),
        );
    }

    /// What is shown, as a PNG file.
    pub fn screenshot(&self) -> Vec<u8> {
        let path = format!("/session/{}/screenshot", self.session);
        let picture = self.call("GET", &path, &Value::Null);
        base64(picture.as_str().expect("a picture is text"))
    }

    /// What the accessibility checker objects to in the page, one line each.
    pub fn accessibility(&self) -> Vec<String> {
        self.script(&format!("{}; window.axe = axe;", clients::axe()));
        let run = "const done = arguments[arguments.length - 1];
            axe.run().then((found) => done(found.violations.map((one) =>
                `${one.id}: ${one.help}: ${one.nodes.map((node) => node.html).join(' | ')}`)));";
        let found = self.post("execute/async", &json!({ "script": run, "args": [] }));
        let lines = found.as_array().expect("a list").iter();
        lines
            .filter_map(|line| line.as_str().map(Into::into))
            .collect()
    }
}

/// The port that the driver took.
fn port(driver: &mut Held) -> u16 {
    let mut lines = BufReader::new(driver.stdout()).lines();
    let found = lines.find_map(|line| {
        let line = line.ok()?;
        let (_, port) = line.rsplit_once("successfully on port ")?;
        port.trim_end_matches('.').parse().ok()
    });
    // What it says later is read, so that it never waits for a reader.
    thread::spawn(move || lines.for_each(drop));
    found.expect("the driver says its port")
}

fn base64(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut held, mut bits) = (0_u32, 0);
    for digit in text.bytes().filter_map(value) {
        held = held << 6 | u32::from(digit);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(held >> bits & 0xff).expect("a byte"));
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64_is_read() {
        assert_eq!(super::base64("aGVsbG8gd29ybGQ="), b"hello world");
        assert_eq!(super::base64("+/8="), [0xfb, 0xff]);
    }
}
