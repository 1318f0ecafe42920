//! Passwords among the arguments of commands: `curl -u name:password`, `sshpass -p …`, `mysql -p…`, `redis-cli -a …`.

use super::SecretFinding;
use super::bytes::{byte_at, byte_before, is_blank, is_quote, skip_back_while, skip_while};
use super::value_shape::{is_code, is_placeholder};

#[path = "positional_passwords.rs"]
mod positional_passwords;

#[cfg(test)]
#[path = "command_arguments_tests.rs"]
mod tests;

/// The most bytes after a command in which its arguments are searched.
const MAX_COMMAND_BYTES: usize = 2048;

/// The way in which a command takes its password.
struct PasswordFlag {
    command: &'static str,
    flags: &'static [&'static str],
    /// True if the password may follow the flag without a space.
    glued: bool,
    /// True if a user's name and a colon come before the password.
    named: bool,
}

const FLAGS: &[PasswordFlag] = &[
    PasswordFlag { command: "curl", flags: &["-u", "--user", "--proxy-user", "-U"], glued: true, named: true },
    PasswordFlag { command: "sshpass", flags: &["-p"], glued: true, named: false },
    PasswordFlag { command: "mysql", flags: &["-p"], glued: true, named: false },
    PasswordFlag { command: "redis-cli", flags: &["-a", "--pass"], glued: false, named: false },
    PasswordFlag { command: " login", flags: &["-p", "--password"], glued: false, named: false },
    PasswordFlag { command: "mongo", flags: &["-p", "--password"], glued: false, named: false },
    PasswordFlag { command: "ldap", flags: &["-w"], glued: false, named: false },
    PasswordFlag { command: "sqlcmd", flags: &["-P"], glued: false, named: false },
    PasswordFlag { command: "zip ", flags: &["-P"], glued: false, named: false },
    PasswordFlag { command: "7z ", flags: &["-p"], glued: true, named: false },
    PasswordFlag { command: "rdesktop", flags: &["-p"], glued: false, named: false },
    PasswordFlag { command: "mosquitto", flags: &["-P"], glued: false, named: false },
    PasswordFlag { command: "plink", flags: &["-pw"], glued: false, named: false },
    PasswordFlag { command: "pscp", flags: &["-pw"], glued: false, named: false },
    PasswordFlag { command: "cqlsh", flags: &["-p"], glued: false, named: false },
    PasswordFlag { command: "beeline", flags: &["-p"], glued: false, named: false },
    PasswordFlag { command: "bcp ", flags: &["-P"], glued: true, named: false },
    PasswordFlag { command: "xfreerdp", flags: &["/p:"], glued: true, named: false },
    PasswordFlag { command: "http -a ", flags: &[""], glued: true, named: true },
    PasswordFlag { command: "https -a ", flags: &[""], glued: true, named: true },
    PasswordFlag { command: "smbclient", flags: &["-U"], glued: false, named: true },
    PasswordFlag { command: "lftp", flags: &["-u"], glued: false, named: true },
    PasswordFlag {
        command: "openssl",
        flags: &["-k ", "-pass pass:", "-passin pass:", "-passout pass:"],
        glued: true,
        named: false,
    },
];

/// The positions up to which the arguments of each command were searched.
pub(super) type Seen = [usize; FLAGS.len()];

/// Finds the passwords of the command at `start..end`.
pub(super) fn find_command_passwords(
    text: &str,
    start: usize,
    end: usize,
    seen: &mut Seen,
    found: &mut Vec<SecretFinding>,
) {
    let bytes = text.as_bytes();
    let is_part = byte_before(bytes, start).is_ascii_alphanumeric();
    if is_part && !matches!(byte_at(bytes, start), b' ' | b'z') {
        return;
    }
    let Some(word) = text.get(start..end).map(str::to_ascii_lowercase) else { return };
    match word.as_str() {
        "identified by" | "securestring" => return find_quoted_password(text, end, found),
        "sqlplus" | "oracle:thin:" => return find_oracle_password(text, end, found),
        "htpasswd" | "rabbitmqctl" | "net user " | "wpa_passphrase" => {
            return positional_passwords::find_positional_password(text, &word, end, found);
        }
        "chpasswd" | "sudo -s" => return positional_passwords::find_piped_password(text, start, end, found),
        _ => {}
    }
    let Some((flag, seen_to)) = FLAGS.iter().zip(seen).find(|(flag, _)| flag.command == word) else {
        return find_gem_host_password(text, end, found);
    };
    if start < *seen_to {
        return;
    }
    let mut stop = end;
    // A command continues over escaped line ends.
    loop {
        let line_end = skip_while(bytes, stop, MAX_COMMAND_BYTES, |byte| byte != b'\n');
        let is_continued = byte_before(bytes, line_end) == b'\\';
        stop = line_end;
        if !is_continued || stop - end > MAX_COMMAND_BYTES || stop >= bytes.len() {
            break;
        }
        stop += 1;
    }
    *seen_to = stop;
    let Some(arguments) = text.get(end..stop) else { return };
    // What follows these signs belongs to another command.
    let len = [" && ", " || ", " | ", "; "].iter().filter_map(|sign| arguments.find(sign)).min();
    let arguments = len.and_then(|len| arguments.get(..len)).unwrap_or(arguments);
    // `find -name mysql -print` is not a login.
    if flag.command == "mysql" && !arguments.contains(" -u") && !begins_command(text, start) {
        return;
    }
    for name in flag.flags {
        for (place, _) in arguments.match_indices(name) {
            let before = byte_before(bytes, end + place);
            if is_blank(before) || before == b'\n' {
                find_flag_password(text, end + place + name.len(), flag, found);
            }
        }
    }
}

/// Finds the password in the argument after a flag.
fn find_flag_password(text: &str, flag_end: usize, flag: &PasswordFlag, found: &mut Vec<SecretFinding>) {
    let bytes = text.as_bytes();
    let start = skip_while(bytes, flag_end, 4, |byte| is_blank(byte) || byte == b'=');
    let is_glued = start == flag_end;
    // After a space `mysql -p` names a database.
    if is_glued && !flag.glued || flag.command == "mysql" && !is_glued {
        return;
    }
    let quote = byte_at(bytes, start);
    let (start, stop) = if is_quote(quote) {
        (start + 1, skip_while(bytes, start + 1, 256, |byte| byte != quote && byte != b'\n'))
    } else {
        (start, skip_while(bytes, start, 256, |byte| !byte.is_ascii_whitespace()))
    };
    let (start, stop) = if flag.named {
        let between =
            |c: char| c == ':' || c == '%' && flag.command == "smbclient" || c == ',' && flag.command == "lftp";
        let Some(colon) = text.get(start..stop).and_then(|given| given.find(between)) else { return };
        // Some services take a key as the name and no password.
        let is_key_alone = text.get(start + colon + 1..stop).is_some_and(str::is_empty);
        if is_key_alone { (start, start + colon) } else { (start + colon + 1, stop) }
    } else {
        (start, stop)
    };
    let from = skip_while(bytes, start, 1, is_quote);
    let to = if is_quote(byte_before(bytes, stop)) && stop > from { stop - 1 } else { stop };
    let is_password = text.get(from..to).is_some_and(|password| {
        is_argument_password(password)
            && !password.starts_with(['/', '-'])
            && (flag.named || flag.command == "sshpass" || !is_port_list(password))
    });
    if is_password {
        found.push(SecretFinding { kind: "password", span: from..to });
    }
}

/// Returns true if an argument can be a password, and is no variable and no placeholder.
fn is_argument_password(value: &str) -> bool {
    value.len() >= 4 && !is_placeholder(value) && !is_code(value) && !value.starts_with('$')
}

/// Returns true for what `-p` publishes and connects to: `27017:27017`, `127.0.0.1:8080:80/tcp`, `8080`.
fn is_port_list(value: &str) -> bool {
    let ports = value.trim_end_matches("/tcp").trim_end_matches("/udp");
    ports.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.' | b'-'))
        && (ports.contains(':') || ports.len() <= 5)
}

/// Returns true if a command begins here: a line, a string, or what follows another command.
fn begins_command(text: &str, start: usize) -> bool {
    let bytes = text.as_bytes();
    let word_start =
        skip_back_while(bytes, start, 64, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_'));
    let gap_start = skip_back_while(bytes, word_start, 16, is_blank);
    let before = byte_before(bytes, gap_start);
    let last_start = skip_back_while(bytes, gap_start, 12, |byte| byte.is_ascii_alphabetic() || byte == b':');
    matches!(before, 0 | b'\n' | b'$' | b'#' | b'>' | b'|' | b';' | b'&' | b'(' | b'`' | b'"' | b'\'')
        || text
            .get(last_start..gap_start)
            .is_some_and(|last| matches!(last, "sudo" | "exec" | "time" | "run:" | "command:"))
}

/// Finds the password in Oracle's `name/password@host`.
fn find_oracle_password(text: &str, end: usize, found: &mut Vec<SecretFinding>) {
    let bytes = text.as_bytes();
    let start = skip_while(bytes, end, 16, |byte| is_blank(byte) || is_quote(byte) || byte == b'-' || byte == b's');
    let slash = skip_while(bytes, start, 64, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.'));
    let stop = skip_while(bytes, slash + 1, 128, |byte| !byte.is_ascii_whitespace() && !is_quote(byte) && byte != b'@');
    let Some(password) =
        text.get(slash + 1..stop).filter(|_| byte_at(bytes, slash) == b'/' && byte_at(bytes, stop) == b'@')
    else {
        return;
    };
    if password.len() >= 4 && !is_placeholder(password) && !is_code(password) && !password.starts_with('$') {
        found.push(SecretFinding { kind: "password", span: slash + 1..stop });
    }
}

/// Finds the password in `BUNDLE_GEMS__EXAMPLE__COM=name:password`, Bundler's credentials for a host.
fn find_gem_host_password(text: &str, end: usize, found: &mut Vec<SecretFinding>) {
    let bytes = text.as_bytes();
    let name_end = skip_while(bytes, end, 80, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !text.get(end..name_end).is_some_and(|name| name.contains("__")) {
        return;
    }
    let start = skip_while(bytes, name_end, 12, |byte| {
        is_blank(byte)
            || is_quote(byte)
            || matches!(byte, b'=' | b':' | b'>' | b'\\' | b',' | b'?' | b'.')
            || byte == b'\n'
    });
    let stop = skip_while(bytes, start, 200, |byte| {
        !byte.is_ascii_whitespace() && !is_quote(byte) && !matches!(byte, b'<' | b';' | b'\\')
    });
    let Some((name, password)) = text.get(start..stop).and_then(|value| value.split_once(':')) else { return };
    if start > name_end && password.len() >= 6 && !is_placeholder(password) && !name.starts_with('$') {
        found.push(SecretFinding { kind: "password", span: start + name.len() + 1..stop });
    }
}

/// Finds the password in SQL's `IDENTIFIED BY 'password'` and PowerShell's `ConvertTo-SecureString 'password'`.
fn find_quoted_password(text: &str, end: usize, found: &mut Vec<SecretFinding>) {
    let bytes = text.as_bytes();
    let quote_at = skip_while(bytes, end, 16, |byte| is_blank(byte) || byte.is_ascii_uppercase());
    let quote = byte_at(bytes, quote_at);
    if !matches!(quote, b'\'' | b'"') {
        return;
    }
    let stop = skip_while(bytes, quote_at + 1, 128, |byte| byte != quote && byte != b'\n');
    if byte_at(bytes, stop) == quote
        && text.get(quote_at + 1..stop).is_some_and(|value| value.len() >= 4 && !is_placeholder(value))
    {
        found.push(SecretFinding { kind: "password", span: quote_at + 1..stop });
    }
}
