//! The address of a display.

use std::fmt;

use http::Uri;

use crate::hud::HudError;
use crate::text::is_hidden_character;

/// The address of a display. Its `Display` and `Debug` output hides the query and the password.
pub(super) struct DisplayAddress {
    uri: Uri,
    host: String,
    port: u16,
}

impl DisplayAddress {
    pub(super) fn parse(text: &str) -> Result<Self, HudError> {
        let refused = |why: &str| HudError::Address { address: strip_secrets(text), why: why.to_owned() };
        let uri: Uri = text.trim().parse().map_err(|error: http::uri::InvalidUri| refused(&error.to_string()))?;
        match uri.scheme_str() {
            Some("ws") => {}
            Some("wss") => return Err(HudError::Encrypted { address: strip_secrets(text) }),
            _ => return Err(refused("it begins with ws://")),
        }
        // The system resolves an IPv6 address without its brackets.
        let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() {
            return Err(refused("it names no machine"));
        }
        let port = uri.port_u16().unwrap_or(80);
        Ok(Self { uri, host, port })
    }

    pub(super) fn uri(&self) -> &Uri {
        &self.uri
    }

    pub(super) fn host_and_port(&self) -> (String, u16) {
        (self.host.clone(), self.port)
    }
}

impl fmt::Display for DisplayAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&strip_secrets(&self.uri.to_string()))
    }
}

impl fmt::Debug for DisplayAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Returns scheme, host and path of an address, without credentials, query or fragment.
fn strip_secrets(text: &str) -> String {
    const SHOWN_CHARACTERS: usize = 120;
    let open = text.trim().split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = open.split_once("://").map_or(("", open), |(scheme, rest)| (scheme, rest));
    let rest = rest.rsplit('@').next().unwrap_or_default();
    let between = if scheme.is_empty() { "" } else { "://" };
    let whole = format!("{scheme}{between}{rest}");
    whole.chars().filter(|c| !is_hidden_character(*c)).take(SHOWN_CHARACTERS).collect()
}
