//! Passwords among the arguments of commands: `curl -u name:password`, `sshpass -p …`, `mysql -p…`, `redis-cli -a …`.

use super::Finding;
use super::bytes::{at, before, is_blank, is_quote, skip};
use super::value::{is_code, is_placeholder};

#[cfg(test)]
#[path = "commands_tests.rs"]
mod tests;

/// Arguments are looked for so far after the command.
const MAX_COMMAND_BYTES: usize = 2048;

/// How a command takes its password.
struct Flag {
    command: &'static str,
    flags: &'static [&'static str],
    /// Whether it may stand at the flag without a space.
    glued: bool,
    /// Whether a user's name and a colon stand before it.
    named: bool,
}

const FLAGS: &[Flag] = &[
    Flag { command: "curl", flags: &["-u", "--user", "--proxy-user", "-U"], glued: true, named: true },
    Flag { command: "sshpass", flags: &["-p"], glued: true, named: false },
    Flag { command: "mysql", flags: &["-p"], glued: true, named: false },
    Flag { command: "redis-cli", flags: &["-a", "--pass"], glued: false, named: false },
    Flag { command: " login", flags: &["-p", "--password"], glued: false, named: false },
    Flag { command: "mongo", flags: &["-p", "--password"], glued: false, named: false },
    Flag { command: "ldap", flags: &["-w"], glued: false, named: false },
    Flag { command: "sqlcmd", flags: &["-P"], glued: false, named: false },
    Flag { command: "zip ", flags: &["-P"], glued: false, named: false },
    Flag { command: "7z ", flags: &["-p"], glued: true, named: false },
    Flag { command: "rdesktop", flags: &["-p"], glued: false, named: false },
];

/// How far the arguments of each command were looked at.
pub(super) type Seen = [usize; FLAGS.len()];

/// The passwords of the command that stands here.
pub(super) fn find(text: &str, start: usize, end: usize, seen: &mut Seen, found: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    let is_part = before(bytes, start).is_ascii_alphanumeric();
    if is_part && !matches!(at(bytes, start), b' ' | b'z') {
        return;
    }
    let Some(word) = text.get(start..end).map(str::to_ascii_lowercase) else { return };
    if matches!(word.as_str(), "identified by" | "securestring") {
        return identified_by(text, end, found);
    }
    if matches!(word.as_str(), "sqlplus" | "oracle:thin:") {
        return name_and_password(text, end, found);
    }
    let Some((flag, seen_to)) = FLAGS.iter().zip(seen).find(|(flag, _)| flag.command == word) else {
        return gem_host(text, end, found);
    };
    if start < *seen_to {
        return;
    }
    let mut stop = end;
    // A command goes on over escaped line ends.
    loop {
        let line_end = skip(bytes, stop, MAX_COMMAND_BYTES, |byte| byte != b'\n');
        let is_continued = before(bytes, line_end) == b'\\';
        stop = line_end;
        if !is_continued || stop - end > MAX_COMMAND_BYTES || stop >= bytes.len() {
            break;
        }
        stop += 1;
    }
    *seen_to = stop;
    let Some(arguments) = text.get(end..stop) else { return };
    // What follows is another command's.
    let len = [" && ", " || ", " | ", "; "].iter().filter_map(|sign| arguments.find(sign)).min();
    let arguments = len.and_then(|len| arguments.get(..len)).unwrap_or(arguments);
    // `find -name mysql -print` is none.
    if flag.command == "mysql" && !arguments.contains(" -u") {
        return;
    }
    for name in flag.flags {
        for (place, _) in arguments.match_indices(name) {
            if is_blank(before(bytes, end + place)) || before(bytes, end + place) == b'\n' {
                argument(text, end + place + name.len(), flag, found);
            }
        }
    }
}

/// The argument after a flag.
fn argument(text: &str, flag_end: usize, flag: &Flag, found: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    let start = skip(bytes, flag_end, 4, |byte| is_blank(byte) || byte == b'=');
    let is_glued = start == flag_end;
    // After a space `mysql -p` names a database.
    if is_glued && !flag.glued || flag.command == "mysql" && !is_glued {
        return;
    }
    let quote = at(bytes, start);
    let (start, stop) = if is_quote(quote) {
        (start + 1, skip(bytes, start + 1, 256, |byte| byte != quote && byte != b'\n'))
    } else {
        (start, skip(bytes, start, 256, |byte| !byte.is_ascii_whitespace()))
    };
    let (start, stop) = if flag.named {
        let Some(colon) = text.get(start..stop).and_then(|given| given.find(':')) else { return };
        // Some services take a key for the name and no password.
        let is_key_alone = text.get(start + colon + 1..stop).is_some_and(str::is_empty);
        if is_key_alone { (start, start + colon) } else { (start + colon + 1, stop) }
    } else {
        (start, stop)
    };
    let from = skip(bytes, start, 1, is_quote);
    let to = if is_quote(before(bytes, stop)) && stop > from { stop - 1 } else { stop };
    let Some(password) = text.get(from..to) else { return };
    if password.len() >= 4 && !is_placeholder(password) && !is_code(password) && !password.starts_with(['$', '/', '-'])
    {
        found.push(Finding { kind: "password", span: from..to });
    }
}

/// Oracle's `name/password@host`.
fn name_and_password(text: &str, end: usize, found: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    let start = skip(bytes, end, 16, |byte| is_blank(byte) || is_quote(byte) || byte == b'-' || byte == b's');
    let slash = skip(bytes, start, 64, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.'));
    let stop = skip(bytes, slash + 1, 128, |byte| !byte.is_ascii_whitespace() && !is_quote(byte) && byte != b'@');
    let Some(password) = text.get(slash + 1..stop).filter(|_| at(bytes, slash) == b'/' && at(bytes, stop) == b'@')
    else {
        return;
    };
    if password.len() >= 4 && !is_placeholder(password) && !is_code(password) && !password.starts_with('$') {
        found.push(Finding { kind: "password", span: slash + 1..stop });
    }
}

/// `BUNDLE_GEMS__EXAMPLE__COM=name:password`: how Bundler is told who may fetch from a host.
fn gem_host(text: &str, end: usize, found: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    let name_end = skip(bytes, end, 80, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !text.get(end..name_end).is_some_and(|name| name.contains("__")) {
        return;
    }
    let start = skip(bytes, name_end, 12, |byte| {
        is_blank(byte)
            || is_quote(byte)
            || matches!(byte, b'=' | b':' | b'>' | b'\\' | b',' | b'?' | b'.')
            || byte == b'\n'
    });
    let stop = skip(bytes, start, 200, |byte| {
        !byte.is_ascii_whitespace() && !is_quote(byte) && !matches!(byte, b'<' | b';' | b'\\')
    });
    let Some((name, password)) = text.get(start..stop).and_then(|value| value.split_once(':')) else { return };
    if start > name_end && password.len() >= 6 && !is_placeholder(password) && !name.starts_with('$') {
        found.push(Finding { kind: "password", span: start + name.len() + 1..stop });
    }
}

/// SQL's `IDENTIFIED BY 'password'`, PowerShell's `ConvertTo-SecureString 'password'`.
fn identified_by(text: &str, end: usize, found: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    let quote_at = skip(bytes, end, 16, |byte| is_blank(byte) || byte.is_ascii_uppercase());
    let quote = at(bytes, quote_at);
    if !matches!(quote, b'\'' | b'"') {
        return;
    }
    let stop = skip(bytes, quote_at + 1, 128, |byte| byte != quote && byte != b'\n');
    if at(bytes, stop) == quote
        && text.get(quote_at + 1..stop).is_some_and(|value| value.len() >= 4 && !is_placeholder(value))
    {
        found.push(Finding { kind: "password", span: quote_at + 1..stop });
    }
}
