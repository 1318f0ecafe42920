//! Who may ask: decided from the head of a request, before anything of it is believed.
//!
//! A page that somebody visits can make their browser send requests here, under a name of its own choosing that
//! resolves to this machine. So a request must name this server by a name it goes by, and a browser must say that the
//! page came from here.

use std::net::IpAddr;

use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderName, Method, StatusCode, header};

use super::problem::Problem;

#[cfg(test)]
#[path = "access_tests.rs"]
mod tests;

/// Names that mean this machine wherever they are used.
const LOCAL_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What may be done by whom.
#[derive(Debug, Clone)]
pub struct Access {
    names: Vec<String>,
    /// A hash, which is compared in constant time.
    token: Option<blake3::Hash>,
    writes: Writes,
    reads: Reads,
}

/// Who may change anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writes {
    /// Whoever may read.
    Open,
    /// Whoever has the token.
    Token,
    /// Nobody.
    Closed,
}

impl Writes {
    /// In a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Token => "token",
            Self::Closed => "closed",
        }
    }
}

/// Who may read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    Open,
    Token,
}

/// What a request is about, as far as access goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    /// What everybody may see: the empty page, and whether the server is alive.
    Public,
    Read,
    Write,
}

impl Access {
    /// At this address, under these names besides, with this token. Off this machine nothing is given without one.
    pub fn new(address: IpAddr, names: &[String], token: Option<&str>, writes: Writes) -> Result<Self, NoToken> {
        let is_local = address.is_loopback();
        let token = token.map(str::trim).filter(|token| !token.is_empty());
        if token.is_none() && !is_local {
            return Err(NoToken { needed_for: "an address that others can reach" });
        }
        if token.is_none() && writes == Writes::Token {
            return Err(NoToken { needed_for: "`serve.writes = \"token\"`" });
        }
        let own = match address {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        };
        let names = LOCAL_NAMES.map(str::to_owned).into_iter().chain([own]).chain(names.iter().cloned());
        Ok(Self {
            names: names.map(|name| name.to_ascii_lowercase()).collect(),
            token: token.map(|token| blake3::hash(token.as_bytes())),
            writes,
            reads: if is_local { Reads::Open } else { Reads::Token },
        })
    }

    /// Who may change anything, for whoever wants to know beforehand.
    pub fn writes(&self) -> Writes {
        match (self.writes, self.reads) {
            (Writes::Open, Reads::Token) => Writes::Token,
            (writes, _) => writes,
        }
    }

    /// Whether a request may go on.
    pub(super) fn check(&self, request: &Parts, wish: Wish) -> Result<(), Problem> {
        is_unambiguous(request)?;
        let host = self.host(request)?;
        self.origin(request, &host)?;
        let needs_token = match wish {
            Wish::Public => false,
            Wish::Read => self.reads == Reads::Token,
            Wish::Write if self.writes == Writes::Closed => {
                return Err(Problem::new(StatusCode::FORBIDDEN, "this server changes nothing")
                    .with_hint("`serve.writes` says so; use the command line"));
            }
            Wish::Write => self.writes() == Writes::Token,
        };
        if needs_token { self.token(request) } else { Ok(()) }
    }

    /// The name that the request calls this server by.
    fn host(&self, request: &Parts) -> Result<Authority, Problem> {
        let mut named = request.headers.get_all(header::HOST).iter();
        let host = match (named.next(), named.next()) {
            (Some(host), None) => host.to_str().ok().and_then(|host| host.parse::<Authority>().ok()),
            _ => None,
        };
        let host = host.filter(|host| !host.as_str().contains('@'));
        let host = host.ok_or_else(|| Problem::question("a request must have one Host header that makes sense"))?;
        let is_ours = |authority: &Authority| self.is_ours(authority.host());
        if !is_ours(&host) || !request.uri.authority().is_none_or(is_ours) {
            return Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, format!("{} is not served here", host.host()))
                .with_hint("add the name to `serve.names` if this server goes by it"));
        }
        Ok(host)
    }

    /// A browser says which page sends a request; only our own may.
    fn origin(&self, request: &Parts, host: &Authority) -> Result<(), Problem> {
        let foreign = || Err(Problem::new(StatusCode::FORBIDDEN, "pages of other servers may not ask here"));
        if request.headers.get(FETCH_SITE).is_some_and(|site| site == "cross-site") {
            return foreign();
        }
        for origin in request.headers.get_all(header::ORIGIN) {
            let page = origin.to_str().ok().and_then(|origin| {
                origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"))?.parse::<Authority>().ok()
            });
            // Another port of this machine is another server.
            if !page.is_some_and(|page| page.as_str().eq_ignore_ascii_case(host.as_str())) {
                return foreign();
            }
        }
        Ok(())
    }

    fn is_ours(&self, name: &str) -> bool {
        self.names.iter().any(|own| own.eq_ignore_ascii_case(name.trim_end_matches('.')))
    }

    fn token(&self, request: &Parts) -> Result<(), Problem> {
        let given = request.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let given = given.and_then(|value| value.split_once(' '));
        let given = given.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token.trim());
        // Hashes of one length are compared, every byte of them, so that time tells nothing.
        let is_right = |token: &str| self.token.is_some_and(|known| known == blake3::hash(token.as_bytes()));
        match given {
            Some(token) if is_right(token) => Ok(()),
            Some(_) => Err(Problem::new(StatusCode::UNAUTHORIZED, "the token is wrong")),
            None => Err(Problem::new(StatusCode::UNAUTHORIZED, "a token is needed")
                .with_hint("send it as `Authorization: Bearer TOKEN`")),
        }
    }
}

/// Whether a method changes anything.
pub(super) fn is_reading(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// A request whose end two readers might see in two places is not read at all. A length beside a body in chunks has been
/// dropped by now, so that chunks alone may be half of a contradiction: they are not taken.
fn is_unambiguous(request: &Parts) -> Result<(), Problem> {
    if request.headers.contains_key(header::TRANSFER_ENCODING) {
        return Err(Problem::new(StatusCode::LENGTH_REQUIRED, "a body in chunks is not taken")
            .with_hint("send the body in one piece, with its length in `Content-Length`"));
    }
    if request.headers.get_all(header::CONTENT_LENGTH).iter().count() > 1 {
        return Err(Problem::question("the length of the request is given twice"));
    }
    Ok(())
}

/// A server that others can reach must have a token.
#[derive(Debug, thiserror::Error)]
#[error("a token is needed for {needed_for}")]
pub struct NoToken {
    needed_for: &'static str,
}
