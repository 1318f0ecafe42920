//! Passwords, signatures and secret paths in URLs.

use super::Finding;
use super::bytes::{at, before, is_blank, is_name, skip, skip_back};
use super::value::{is_mask, is_placeholder, is_random, is_uuid};

#[cfg(test)]
#[path = "urls_tests.rs"]
mod tests;

/// A user's name and password together are not longer.
const MAX_USERINFO_BYTES: usize = 512;

/// A signature's first bytes tell whether it is one.
const JUDGED_BYTES: usize = 64;

/// The secret of the URL around a telling piece. `seen_to` is how far hooks were looked for.
pub(super) fn find(text: &str, start: usize, end: usize, seen_to: &mut usize, found: &mut Vec<Finding>) {
    match at(text.as_bytes(), start) {
        b':' => userinfo(text, start, end, found),
        b's' | b'S' => signature(text, start, end, found),
        b'/' if !text.get(end..).is_some_and(|path| path.starts_with(|c: char| c.is_ascii_alphanumeric())) => {}
        _ if start < *seen_to => {}
        _ => *seen_to = webhook(text, start, end, found).unwrap_or(end),
    }
}

/// `scheme://user:password@host`: the password goes, the name stays.
fn userinfo(text: &str, start: usize, end: usize, found: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    if !before(bytes, start).is_ascii_alphanumeric() {
        return;
    }
    let stop = skip(bytes, end, MAX_USERINFO_BYTES, |byte| {
        !byte.is_ascii_whitespace()
            && !matches!(byte, b'/' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b'?' | b'#' | b';')
    });
    let Some(authority) = text.get(end..stop) else { return };
    let Some((info, host)) = authority.rsplit_once('@') else { return };
    if !host.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '[' | '$' | '{' | '(')) {
        return;
    }
    let (user, password) = info.split_once(':').unwrap_or(("", info));
    let is_lone = !info.contains(':');
    let names = |text: &str| text.bytes().all(is_name);
    if password.is_empty() || is_template(password) || (is_lone && (!is_random(password) || !names(password))) {
        return;
    }
    let from = end + if is_lone { 0 } else { user.len() + 1 };
    found.push(Finding { kind: "url-password", span: from..from + password.len() });
}

/// A variable or a mask instead of a password; `password` itself may well be one.
fn is_template(password: &str) -> bool {
    is_mask(password)
        || password.starts_with(['$', '{', '<', '%', '[', '*']) && is_placeholder(password)
        || password.contains("{}")
        || password.contains("${")
}

/// The signature that makes a URL a key: `sig=…`, `X-Amz-Signature=…`.
fn signature(text: &str, start: usize, end: usize, found: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    if !matches!(before(bytes, start), b'?' | b'&' | b'-' | b';') || is_blank(at(bytes, end)) {
        return;
    }
    let in_value = |byte: u8| is_name(byte) || matches!(byte, b'%' | b'+' | b'/' | b'=' | b'~');
    let near = skip(bytes, end, JUDGED_BYTES, in_value);
    if text.get(end..near).is_some_and(|value| value.len() >= 32 && is_random(value)) {
        let stop = skip(bytes, near, 1024, in_value);
        found.push(Finding { kind: "url-signature", span: end..stop });
    }
}

/// Hosts whose paths let anyone post.
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

/// The secret path of a hook. Says how far it looked.
fn webhook(text: &str, start: usize, end: usize, found: &mut Vec<Finding>) -> Option<usize> {
    let bytes = text.as_bytes();
    let in_url = |byte: u8| is_name(byte) || matches!(byte, b'/' | b':' | b'@' | b'%' | b'=' | b'&' | b'?');
    let from = skip_back(bytes, start, 128, in_url);
    let stop = skip(bytes, end, 512, in_url);
    let url = text.get(from..stop)?;
    let Some((host_at, host)) = HOOK_HOSTS.iter().find_map(|host| Some((url.find(host)?, host))) else {
        return Some(stop);
    };
    let path_at = from + host_at + host.len();
    let is_secret = text.get(path_at..stop).is_some_and(|path| is_hook_path(path) && !is_mask(path));
    if is_secret {
        found.push(Finding { kind: "webhook-url", span: path_at..stop });
    }
    Some(stop)
}

/// Something random in it, or the two short ids of hooks that anyone may guess and few do.
fn is_hook_path(path: &str) -> bool {
    let is_id = |part: &str| part.len() >= 6 && part.bytes().any(|byte| byte.is_ascii_digit());
    path.split('/').any(|part| part.len() >= 16 && (is_random(part) || is_uuid(part)))
        || path.starts_with("catch/") && path.split('/').skip(1).take(2).all(is_id)
}
