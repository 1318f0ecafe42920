//! Names that error messages give: programs, packages, variables, ports.

#[cfg(test)]
#[path = "error_names_tests.rs"]
mod tests;

/// Returns the name in a message such as `X is not defined` or `name 'X' is not defined`.
pub(super) fn find_undefined_name(headline: &str) -> Option<String> {
    let (before, _) = headline.split_once(" is not defined")?;
    let name = before.split_whitespace().last()?.trim_matches(['\'', '"', '`', '(', ')']);
    let is_name = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '.'));
    (is_name && name.len() >= 2).then(|| name.to_owned())
}

/// Returns the first name in upper case with an underscore, like `DATABASE_URL`.
pub(super) fn find_uppercase_name(headline: &str) -> Option<String> {
    let words = headline.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words
        .filter(|word| word.len() >= 4 && word.starts_with(|c: char| c.is_ascii_uppercase()))
        .filter(|word| word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_'))
        .find(|word| word.contains('_') && !word.starts_with("ERR_") && !word.starts_with("E_"))
        .map(str::to_owned)
}

pub(super) fn find_port(lower: &str) -> Option<String> {
    let mut numbers = lower.split(|c: char| !c.is_ascii_digit()).filter(|number| (2..=5).contains(&number.len()));
    numbers.rfind(|number| number.parse::<u32>().is_ok_and(|port| (80..65_536).contains(&port))).map(str::to_owned)
}

/// Returns the program in `x: command not found` and similar messages.
pub(super) fn find_missing_program(headline: &str) -> Option<String> {
    let lower = headline.to_lowercase();
    let before = ["command not found", ": not found", "is not recognized"].iter().find_map(|words| {
        let at = lower.find(words)?;
        headline.get(..at)
    });
    let name = match before {
        Some(before) if !before.trim_end_matches([':', ' ']).is_empty() => {
            before.trim_end_matches([':', ' ']).rsplit([' ', ':']).next()?
        }
        // zsh puts the program last.
        Some(_) => headline.rsplit(": ").next()?,
        None => {
            return first_quoted_name(headline).or_else(|| {
                lower
                    .contains("spawn ")
                    .then(|| headline.split("spawn ").nth(1)?.split(' ').next().map(str::to_owned))
                    .flatten()
            });
        }
    };
    // A shell may print its own name and the line of the script first.
    let is_line = name.bytes().all(|byte| byte.is_ascii_digit());
    let name = if is_line || name.starts_with("zsh") { headline.rsplit(": ").next()? } else { name };
    let name = name.trim_matches(['\'', '"', '`', '.']);
    is_plain_name(name).then(|| name.to_owned())
}

/// Phrases, in lower case, that are followed by a missing module, which may lie in a package.
const BEFORE_MODULES: &[&str] = &[
    "no module named",
    "cannot find module providing package",
    "cannot find module",
    "cannot load such file",
    "cannot find package",
    "failed to resolve import",
    "can't resolve",
    "cannot resolve module",
    "unable to resolve module",
];

/// Phrases, in lower case, that are followed by the package to install.
const BEFORE_PACKAGES: &[&str] = &[
    "provides package",
    "can't find crate for",
    "could not find gem",
    "package not found",
    "cannot find -l",
    "could not find package",
    "could not find",
    "couldn't find the config",
    "couldn't find the plugin",
];

/// Returns the package that an error message reports as missing.
pub(super) fn find_missing_package(headline: &str) -> Option<String> {
    let header = headline.split(": ").find(|piece| piece.ends_with(".h") || piece.ends_with(".hpp"));
    if let Some(header) = header.filter(|name| is_plain_name(name)) {
        return Some(header.to_owned());
    }
    let found = BEFORE_MODULES
        .iter()
        .find_map(|words| find_name_after(headline, words))
        .map(|name| package_of_module(&name).to_owned());
    let found = found.or_else(|| BEFORE_PACKAGES.iter().find_map(|words| find_name_after(headline, words)));
    let of_dependency = || headline.split_once("dependency ").and_then(|(_, rest)| first_quoted_name(rest));
    found.or_else(of_dependency).or_else(|| first_quoted_name(headline))
}

/// Tells whether the module that an error message reports as missing is one of the project itself.
pub(super) fn misses_project_module(headline: &str) -> bool {
    let named = BEFORE_MODULES.iter().find_map(|words| find_name_after(headline, words));
    named.or_else(|| find_missing_package(headline)).is_some_and(|name| {
        let is_installed = name.contains("/node_modules/") || name.contains("/site-packages/");
        !is_installed
            && (name.starts_with(['.', '/'])
                || name.starts_with("@/")
                || name.starts_with("~/")
                || name.starts_with("src/")
                || name.starts_with("src."))
    })
}

/// Returns the name that follows some words, if there is one.
fn find_name_after(headline: &str, words: &str) -> Option<String> {
    let at = headline.to_lowercase().find(words)?;
    let rest = headline.get(at + words.len()..)?.trim_start_matches([':', ' ', '-']);
    let name = rest.split(|c: char| c.is_whitespace() || ",;".contains(c)).next()?;
    let name = name.trim_matches(['\'', '"', '`', ':', ';', '(', ')']).trim_end_matches('.');
    is_plain_name(name).then(|| name.to_owned())
}

/// Returns the package of a module: `a.b.c` is in `a`, `@x/y/z` in `@x/y`, `lodash/fp` in `lodash`.
fn package_of_module(module: &str) -> &str {
    let module = ["/node_modules/", "/site-packages/"]
        .iter()
        .find_map(|folder| module.rsplit_once(folder))
        .map_or(module, |(_, inside)| inside);
    let parts = if module.starts_with('@') { 2 } else { 1 };
    let slash = module.match_indices('/').nth(parts - 1).map_or(module.len(), |(at, _)| at);
    let head = module.get(..slash).unwrap_or(module);
    match head.contains('.') {
        // A host is in front: the modules of Go are whole addresses.
        true if slash < module.len() => module,
        true => head.split('.').next().filter(|name| !name.is_empty()).unwrap_or(head),
        false => head,
    }
}

/// Returns the first quoted piece of a text that is a plain name.
pub(super) fn first_quoted_name(headline: &str) -> Option<String> {
    let mut pieces = headline.split(['\'', '"', '`']);
    pieces.next();
    pieces.find(|piece| is_plain_name(piece)).map(str::to_owned)
}

fn is_plain_name(name: &str) -> bool {
    (1..=60).contains(&name.len())
        && name.chars().any(char::is_alphanumeric)
        && name.chars().all(|c| c.is_alphanumeric() || "_-./@+$~".contains(c))
}
