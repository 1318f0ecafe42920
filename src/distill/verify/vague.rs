//! Whether a lesson says something that one could do or know.

use super::generic::is_generic;
use super::quotes::Found;
use crate::distill::claim::Claim;
use crate::domain::TrustClass;

#[cfg(test)]
#[path = "vague_tests.rs"]
mod tests;

/// So many words of a person's make an order of what would be a platitude.
const MIN_ASKED: usize = 3;

/// Names of tools and of things that go wrong, in lower case; sorted.
const NAMED: &[&str] = &[
    "ansible",
    "apt",
    "aws",
    "bash",
    "bazel",
    "brew",
    "bun",
    "cache",
    "cargo",
    "certificate",
    "chrome",
    "clippy",
    "cmake",
    "commit",
    "container",
    "crash",
    "cron",
    "curl",
    "deadlock",
    "deno",
    "docker",
    "eslint",
    "exception",
    "flaky",
    "gcc",
    "git",
    "github",
    "gitlab",
    "go",
    "gradle",
    "grep",
    "helm",
    "java",
    "jest",
    "jq",
    "kafka",
    "kotlin",
    "kubectl",
    "linker",
    "linux",
    "lockfile",
    "macos",
    "make",
    "maven",
    "migration",
    "migrations",
    "mypy",
    "mysql",
    "nginx",
    "nix",
    "node",
    "npm",
    "oom",
    "openssl",
    "panic",
    "perl",
    "php",
    "pip",
    "playwright",
    "pnpm",
    "podman",
    "port",
    "postgres",
    "prettier",
    "proxy",
    "psql",
    "pytest",
    "python",
    "quota",
    "rails",
    "rebase",
    "redis",
    "ripgrep",
    "ruby",
    "ruff",
    "rust",
    "rustfmt",
    "sandbox",
    "sed",
    "segfault",
    "snapshot",
    "sql",
    "sqlite",
    "ssh",
    "stdin",
    "stdout",
    "swift",
    "systemd",
    "tailwind",
    "terraform",
    "timeout",
    "timezone",
    "tls",
    "token",
    "tsc",
    "typescript",
    "utf",
    "uv",
    "vite",
    "vitest",
    "webpack",
    "wget",
    "windows",
    "worktree",
    "yarn",
    "zsh",
];

/// Why a claim says nothing, if it does.
pub(super) fn fault(claim: &Claim, found: &[Found]) -> Option<&'static str> {
    let said = [Some(claim.summary.as_str()), claim.rule.as_deref()].into_iter().flatten();
    let said: Vec<&str> = said.collect();
    let words: Vec<String> = said.iter().flat_map(|text| crate::text::words(text)).collect();
    let by_person: Vec<&Found> = found.iter().filter(|one| one.quote.trust == TrustClass::User).collect();
    let is_persons = !by_person.is_empty();
    let is_platitude = words.iter().all(|word| is_generic(word)) && !said.iter().any(|text| has_name(text));
    if is_platitude && !is_asked_for(&words, &by_person) {
        return Some("it would be true of any work");
    }
    let facets = &claim.facets;
    let has_facet = facets.tool.is_some()
        || facets.component.is_some()
        || facets.provider.is_some()
        || facets.error_family.is_some();
    if is_persons || has_facet || said.iter().any(|text| has_name(text)) {
        return None;
    }
    Some("it names no command, file, tool, number or error")
}

/// Whether a person said just that, in more than a few words.
fn is_asked_for(words: &[String], by_person: &[&Found]) -> bool {
    by_person.iter().any(|one| {
        let asked = crate::text::words(&one.quote.text);
        let shared = words.iter().filter(|word| asked.contains(word)).count();
        shared >= MIN_ASKED && shared * 3 >= words.len() * 2
    })
}

/// Whether a text names something: an identifier, a path, a flag, a number, a tool, an error, a proper name.
fn has_name(text: &str) -> bool {
    if text.contains(['`', '"', '“']) {
        return true;
    }
    let mut begins = true;
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-');
        let is_named = NAMED.binary_search(&bare.to_lowercase().as_str()).is_ok();
        let has_digit = bare.chars().any(|c| c.is_ascii_digit());
        let has_joint =
            bare.contains(['_', '/', '=', ':']) || bare.contains("--") || bare.trim_matches('.').contains('.');
        let is_flag = bare.starts_with('-') && bare.len() > 1;
        let capitals = bare.chars().filter(|c| c.is_uppercase()).count();
        let is_rule_word = matches!(bare, "IF" | "THEN" | "ALWAYS" | "NEVER" | "NOT" | "DO" | "MUST");
        let is_proper = capitals > 0 && !begins && !is_rule_word;
        let is_camel =
            capitals > 0 && bare.chars().any(char::is_lowercase) && bare.chars().skip(1).any(char::is_uppercase);
        let is_acronym = capitals > 1 && !is_rule_word;
        let is_other_script = bare.chars().any(|c| u32::from(c) >= 0x2E80);
        if is_named || has_digit || has_joint || is_flag || is_proper || is_camel || is_acronym || is_other_script {
            return true;
        }
        begins = word.ends_with(['.', '!', '?', ':']) || is_rule_word;
    }
    false
}
