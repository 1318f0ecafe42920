//! Passwords, signatures and secret paths in URLs.

use super::SecretFinding;
use super::bytes::{byte_at, byte_before, is_blank, is_name_byte, skip_back_while, skip_while};
use super::value_shape::{is_mask, is_placeholder, is_random, is_uuid};

#[cfg(test)]
#[path = "urls_tests.rs"]
mod tests;

/// The most bytes of a user's name and password together.
const MAX_USERINFO_BYTES: usize = 512;

/// The number of bytes that are enough to judge a signature.
const JUDGED_BYTES: usize = 64;

/// Finds the secret of the URL around a telling piece. `seen_to` is the position up to which webhooks were searched.
pub(super) fn find_url_secret(
    text: &str,
    start: usize,
    end: usize,
    seen_to: &mut usize,
    found: &mut Vec<SecretFinding>,
) {
    match byte_at(text.as_bytes(), start) {
        b':' => find_userinfo_password(text, start, end, found),
        b's' | b'S' => find_signature(text, start, end, found),
        b'/' if !text.get(end..).is_some_and(|path| path.starts_with(|c: char| c.is_ascii_alphanumeric())) => {}
        _ if start < *seen_to => {}
        _ => *seen_to = find_webhook_path(text, start, end, found).unwrap_or(end),
    }
}

/// Finds the password in `scheme://user:password@host`; the name stays.
fn find_userinfo_password(text: &str, start: usize, end: usize, found: &mut Vec<SecretFinding>) {
    let bytes = text.as_bytes();
    if !byte_before(bytes, start).is_ascii_alphanumeric() {
        return;
    }
    let stop = skip_while(bytes, end, MAX_USERINFO_BYTES, |byte| {
        !byte.is_ascii_whitespace() && !matches!(byte, b'/' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b';')
    });
    let Some(authority) = text.get(end..stop) else { return };
    let Some((info, host)) = authority.rsplit_once('@') else { return };
    if !host.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '[' | '$' | '{' | '(')) {
        return;
    }
    let (user, password) = info.split_once(':').unwrap_or(("", info));
    // `host:8080?mail=a@b` has a port and a question.
    let after_port = password.trim_start_matches(|c: char| c.is_ascii_digit());
    if user.contains(['?', '#']) || after_port.len() < password.len() && after_port.starts_with(['?', '#']) {
        return;
    }
    let is_lone = !info.contains(':');
    let names = |text: &str| text.bytes().all(is_name_byte);
    if password.is_empty() || is_template_password(password) || (is_lone && (!is_random(password) || !names(password)))
    {
        return;
    }
    let from = end + if is_lone { 0 } else { user.len() + 1 };
    found.push(SecretFinding { kind: "url-password", span: from..from + password.len() });
}

/// Returns true for a variable or a mask instead of a password; the word `password` itself may be a real one.
fn is_template_password(password: &str) -> bool {
    is_mask(password)
        || password.starts_with(['$', '{', '<', '%', '[', '*']) && is_placeholder(password)
        || password.contains("{}")
        || password.contains("${")
}

/// Finds the signature that makes a URL a key: `sig=…`, `X-Amz-Signature=…`.
fn find_signature(text: &str, start: usize, end: usize, found: &mut Vec<SecretFinding>) {
    let bytes = text.as_bytes();
    if !matches!(byte_before(bytes, start), b'?' | b'&' | b'-' | b';') || is_blank(byte_at(bytes, end)) {
        return;
    }
    let in_value = |byte: u8| is_name_byte(byte) || matches!(byte, b'%' | b'+' | b'/' | b'=' | b'~');
    let near = skip_while(bytes, end, JUDGED_BYTES, in_value);
    if text.get(end..near).is_some_and(|value| value.len() >= 32 && is_random(value)) {
        let stop = skip_while(bytes, near, 1024, in_value);
        found.push(SecretFinding { kind: "url-signature", span: end..stop });
    }
}

/// The hosts whose webhook paths let anyone post.
const HOOK_HOSTS: &[&str] = &[
    "hooks.slack.com/services/",
    "hooks.slack.com/workflows/",
    "hooks.slack.com/triggers/",
    "webhook.office.com/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
    "chat.googleapis.com/v1/",
    "hooks.zapier.com/hooks/",
    "outlook.office.com/webhook/",
    "open.feishu.cn/open-apis/bot/v2/hook/",
    "open.larksuite.com/open-apis/bot/v2/hook/",
    "qyapi.weixin.qq.com/cgi-bin/webhook/send?key=",
    "oapi.dingtalk.com/robot/send?access_token=",
    "hooks.chime.aws/incomingwebhooks/",
];

/// Finds the secret path of a webhook. Returns the position up to which was searched.
fn find_webhook_path(text: &str, start: usize, end: usize, found: &mut Vec<SecretFinding>) -> Option<usize> {
    let bytes = text.as_bytes();
    let in_url = |byte: u8| is_name_byte(byte) || matches!(byte, b'/' | b':' | b'@' | b'%' | b'=' | b'&' | b'?');
    let from = skip_back_while(bytes, start, 128, in_url);
    let stop = skip_while(bytes, end, 512, in_url);
    let url = text.get(from..stop)?;
    let Some((host_at, host)) = HOOK_HOSTS.iter().find_map(|host| Some((url.find(host)?, host))) else {
        return Some(stop);
    };
    let path_at = from + host_at + host.len();
    let is_secret = text.get(path_at..stop).is_some_and(|path| is_hook_path(path) && !is_mask(path));
    if is_secret {
        found.push(SecretFinding { kind: "webhook-url", span: path_at..stop });
    }
    Some(stop)
}

/// Returns true if a part of the path is random, or if it has the two short ids of guessable webhooks.
fn is_hook_path(path: &str) -> bool {
    let is_id = |part: &str| part.len() >= 6 && part.bytes().any(|byte| byte.is_ascii_digit());
    path.split('/').any(|part| part.len() >= 16 && (is_random(part) || is_uuid(part)))
        || path.starts_with("catch/") && path.split('/').skip(1).take(2).all(is_id)
}
