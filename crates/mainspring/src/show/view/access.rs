//! Who may read the page, and who may press its buttons.
//!
//! The page listens on the loopback interface, where every program of this computer can reach it,
//! and every web page in the person's browser can try to. So a request must know the random token
//! in the address, must name our own host (a name that an attacker's DNS server points to 127.0.0.1
//! is another one), and must not come from another site's page.

use super::http::{Method, Request};

#[derive(Debug, Clone)]
pub(super) struct Access {
    token: String,
    port: u16,
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refused {
    #[error("this address names another host; use the address that `mainspring view` printed")]
    Host,
    #[error("another site asked for this page")]
    Site,
    #[error("the address is not the one that `mainspring view` printed, or it was started again")]
    Token,
}

impl Access {
    pub(super) fn new(token: String, port: u16) -> Self {
        Self { token, port }
    }

    /// The address that a person opens.
    pub(super) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// The names under which a browser on this computer reaches us.
    fn hosts(&self) -> [String; 2] {
        ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port))
    }

    /// The path below the token, if the request may be answered.
    pub(super) fn admit<'a>(&self, request: &'a Request) -> Result<&'a str, Refused> {
        let host = request.host.as_deref();
        let host = host.filter(|host| self.hosts().iter().any(|ours| ours == host));
        let host = host.ok_or(Refused::Host)?;
        // A browser sends the origin with everything that changes something, and with what a
        // script of another site asks for.
        let ours = format!("http://{host}");
        let from_us = match (&request.origin, request.method) {
            (Some(origin), _) => *origin == ours,
            (None, Method::Get) => true,
            (None, Method::Post) => false,
        };
        let same_site = request.fetch_site.as_deref();
        let same_site = same_site.is_none_or(|site| site == "same-origin");
        if !from_us || (request.method == Method::Post && !same_site) {
            return Err(Refused::Site);
        }
        let below = request.path.strip_prefix('/').unwrap_or_default();
        let (token, path) = below.split_once('/').ok_or(Refused::Token)?;
        if is_same(token.as_bytes(), self.token.as_bytes()) {
            Ok(path)
        } else {
            Err(Refused::Token)
        }
    }
}

/// Compares without telling by its duration where the first difference is.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let differences = one.iter().zip(other).map(|(a, b)| a ^ b);
    one.len() == other.len() && differences.fold(0, |all, one| all | one) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef0123456789abcdef";

    fn request(method: Method, path: &str) -> Request {
        Request {
            method,
            path: path.into(),
            query: String::new(),
            host: Some("127.0.0.1:7000".into()),
            origin: (method == Method::Post).then(|| "http://127.0.0.1:7000".into()),
            fetch_site: None,
            body: Vec::new(),
        }
    }

    fn admit(request: &Request) -> Result<String, Refused> {
        let access = Access::new(TOKEN.into(), 7000);
        access.admit(request).map(Into::into)
    }

    #[test]
    fn the_address_that_was_printed_is_answered() {
        for method in [Method::Get, Method::Post] {
            let request = request(method, &format!("/{TOKEN}/timeline"));
            assert_eq!(admit(&request).as_deref(), Ok("timeline"));
        }
        let mut by_name = request(Method::Get, &format!("/{TOKEN}/"));
        by_name.host = Some("localhost:7000".into());
        assert_eq!(admit(&by_name).as_deref(), Ok(""));
    }

    #[test]
    fn another_host_is_refused_even_with_the_token() {
        for host in [
            None,
            Some(""),
            Some("127.0.0.1"),
            Some("127.0.0.1:7001"),
            Some("evil.example:7000"),
            Some("127.0.0.1.evil.example:7000"),
            Some("localhost.:7000"),
            Some("[::1]:7000"),
            Some("0.0.0.0:7000"),
        ] {
            let mut request = request(Method::Get, &format!("/{TOKEN}/"));
            request.host = host.map(Into::into);
            assert_eq!(admit(&request), Err(Refused::Host), "{host:?}");
        }
    }

    #[test]
    fn another_site_is_refused_even_with_the_token() {
        let evil = ["null", "http://evil.example", "http://127.0.0.1:7001", ""];
        for (method, origin) in [Method::Get, Method::Post]
            .into_iter()
            .flat_map(|method| evil.map(|origin| (method, origin)))
        {
            let mut request = request(method, &format!("/{TOKEN}/pause"));
            request.origin = Some(origin.into());
            assert_eq!(admit(&request), Err(Refused::Site), "{origin}");
        }
        let mut without = request(Method::Post, &format!("/{TOKEN}/pause"));
        without.origin = None;
        assert_eq!(admit(&without), Err(Refused::Site));
        let mut crossed = request(Method::Post, &format!("/{TOKEN}/pause"));
        crossed.fetch_site = Some("cross-site".into());
        assert_eq!(admit(&crossed), Err(Refused::Site));
    }

    #[test]
    fn without_the_token_nothing_is_answered() {
        let nearly = TOKEN.replace('f', "e");
        for path in [
            "/".to_owned(),
            String::new(),
            format!("/{TOKEN}"),
            format!("/{}/", &TOKEN[1..]),
            format!("/{TOKEN}0/"),
            format!("/{nearly}/"),
            format!("//{TOKEN}/"),
            "/style.css".to_owned(),
        ] {
            let request = request(Method::Get, &path);
            assert_eq!(admit(&request), Err(Refused::Token), "{path}");
        }
    }
}
