//! Tells where the decisive words of a lesson were read first: packages, addresses, settings and flags.
//!
//! Error text and outputs are data. What they name may be harm, and an agent that does as they say proves only that it
//! obeyed. So a package or an address is the project's own only if a person named it, a file of the project declared it
//! or the agent used it before anybody else's text named it. What the outputs of the project's own commands say besides
//! is judged by its kind (see `safety_weakening`); what strangers say is not taken over at all.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use aho_corasick::AhoCorasick;

use super::ProjectDocument;
use super::network_addresses::find_addresses;
use super::package_names::{MIN_NAME, find_packages, package_name};
use super::pasted_text::PassedOnLines;
use super::provenance::{is_foreign, split_by_trust, steps_in_time_order};
use crate::context::{ReflectionContext, ToolAction, quotable_texts};
use crate::distill::unchecked_candidate::StepReference;
use crate::domain::{EvidenceLevel, TrustClass};
use crate::text::{fold_lookalikes, plain_views};

#[cfg(test)]
#[path = "remedy_origin_tests.rs"]
mod tests;

/// Files that declare what a project uses.
const MANIFESTS: &[&str] = &[
    "package.json",
    "package-lock.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "requirements",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "pipfile",
    "poetry.lock",
    "uv.lock",
    "cargo.toml",
    "cargo.lock",
    "go.mod",
    "go.sum",
    "gemfile",
    "composer.json",
    "pom.xml",
    "build.gradle",
    "environment.yml",
    "brewfile",
    ".tool-versions",
    "mise.toml",
    "dockerfile",
    "flake.nix",
    "mix.exs",
    "deno.json",
    ".csproj",
    "makefile",
    ".github/workflows",
    "justfile",
    "scripts/",
    ".sh",
    ".yml",
    ".yaml",
];

/// The fewest characters of a name that is looked for in encodings.
const MIN_ENCODED_NAME: usize = 6;

/// The fewest characters of a name with hyphens.
const MIN_HYPHENATED: usize = 6;

/// The most characters of a setting's value that is a plain word or number.
const MAX_PLAIN_VALUE: usize = 12;

/// The most letters of a package whose name may be a common word.
const MAX_COMMON_NAME: usize = 6;

/// The kind of a decisive word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NameKind {
    /// A package that is installed or run.
    Package,
    /// The address of another machine.
    Address,
    /// A setting with its value.
    Setting,
    /// A flag of a program.
    Flag,
    /// A name with hyphens, as packages and tools have.
    Hyphenated,
}

/// The moments at which a word was read first, and from whom.
#[derive(Debug, Default, Clone)]
struct FirstReadings {
    person: bool,
    declared: Option<usize>,
    agent: Option<usize>,
    output: Option<(usize, StepReference)>,
    foreign: Option<(usize, StepReference)>,
}

/// The origins of all decisive words of a session and of the lessons about it.
#[derive(Debug, Default)]
pub(super) struct RemedyOrigins {
    names: BTreeMap<String, (NameKind, FirstReadings)>,
    clipped_texts: Vec<crate::context::ClippedWords>,
}

impl RemedyOrigins {
    /// Traces the decisive words of these texts, and of what the agent installed, through the log.
    pub(super) fn trace_names<'t>(
        context: &ReflectionContext,
        documents: &[ProjectDocument],
        passed_on: &PassedOnLines,
        texts: impl Iterator<Item = &'t str>,
    ) -> Self {
        let mut names: BTreeMap<String, NameKind> = BTreeMap::new();
        for text in texts {
            for view in plain_views(text) {
                for (name, kind) in find_names(&view) {
                    names.entry(name).or_insert(kind);
                }
            }
        }
        // What was installed is a package by whatever name a lesson calls it.
        for step in context.trajectories.iter().flat_map(|trajectory| &trajectory.steps) {
            let says = |passage: &&crate::context::QuotableText<'_>| passage.trust != TrustClass::Agent;
            for passage in quotable_texts(step).iter().filter(says) {
                let view = fold_lookalikes(&passage.text);
                // Prose says "install" too: only what can be nothing but a name counts.
                let told = find_packages(&view).filter(|name| name.contains(|c: char| !c.is_alphabetic()));
                names.extend(told.map(|name| (name, NameKind::Package)));
            }
            let ran = |passage: &&crate::context::QuotableText<'_>| {
                passage.trust == TrustClass::Agent && passage.level == EvidenceLevel::Execution
            };
            for passage in quotable_texts(step).iter().filter(ran) {
                let view = fold_lookalikes(&passage.text);
                names.extend(find_packages(&view).map(|name| (name, NameKind::Package)));
            }
        }
        let mut origins = Self {
            names: names.into_iter().map(|(name, kind)| (name, (kind, FirstReadings::default()))).collect(),
            clipped_texts: context.clipped.clone(),
        };
        if !origins.names.is_empty() {
            origins.read_log(context, documents, passed_on);
        }
        origins
    }

    fn read_log(&mut self, context: &ReflectionContext, documents: &[ProjectDocument], passed_on: &PassedOnLines) {
        let names: Vec<String> = self.names.keys().cloned().collect();
        let patterns: Vec<(usize, NameForm)> = names
            .iter()
            .enumerate()
            .flat_map(|(at, name)| encoded_forms(name).into_iter().map(move |form| (at, form)))
            .collect();
        let finder = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(patterns.iter().map(|(_, form)| form.text.as_str()))
            .ok();
        let Some(finder) = finder else { return };
        let find = |text: &str| -> BTreeSet<usize> {
            let folded = fold_lookalikes(text);
            let whole = |start: usize, end: usize| {
                let is_part = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
                !is_part(folded.get(..start).and_then(|before| before.chars().next_back()))
                    && !is_part(folded.get(end..).and_then(|behind| behind.chars().next()))
            };
            finder
                .find_overlapping_iter(&folded)
                .filter_map(|found| {
                    let (at, form) = patterns.get(found.pattern().as_usize())?;
                    (form.is_joined || whole(found.start(), found.end())).then_some(*at)
                })
                .collect()
        };
        for document in documents {
            for at in find(&document.text) {
                self.note(names.get(at), |readings| readings.declared = Some(0));
            }
        }
        let mut ends: Vec<String> = Vec::new();
        // A step may hold several calls, each made after the output of the one before: its parts are read in their order.
        let mut moment = 0;
        for heard in steps_in_time_order(context).into_iter().filter(|heard| heard.is_said) {
            moment += 1;
            let is_manifest = heard.step.calls.iter().any(|call| {
                let arguments = call.arguments.to_string().to_lowercase();
                MANIFESTS.iter().any(|manifest| arguments.contains(manifest))
            });
            // A list of files shows names that anybody may have given.
            let is_list = heard.step.calls.iter().any(|call| {
                let action = ToolAction::from_call(&call.tool, &call.arguments);
                matches!(action, ToolAction::Run { command } if is_listing(&command))
            });
            let clipped = self.clipped_texts.iter().filter(|one| is_of_step(one, heard.place));
            let clipped: Vec<usize> = clipped
                .flat_map(|one| {
                    // A long file of the project declares packages only if it is a manifest.
                    let is_telling = |name: &String| {
                        let is_package = self.names.get(name).is_some_and(|(kind, _)| *kind == NameKind::Package);
                        let is_own = one.is_project_file && (is_manifest || !is_package);
                        !is_own && !is_common(Some(name)) && one.contains_name(name)
                    };
                    (0..names.len()).filter(|at| names.get(*at).is_some_and(is_telling)).collect::<Vec<_>>()
                })
                .collect();
            let mut clipped = Some(clipped);
            let mut passages = quotable_texts(heard.step);
            if heard.step.calls.len() > 1 {
                // What is said in a step of several calls may have been said after all of them.
                passages.sort_by_key(|one| one.trust == TrustClass::Agent && one.level == EvidenceLevel::Reasoning);
            }
            for passage in passages {
                moment += 1;
                let is_output = !matches!(passage.trust, TrustClass::User | TrustClass::Agent);
                for at in clipped.take_if(|_| is_output).unwrap_or_default() {
                    self.note(names.get(at), |readings| {
                        readings.output.get_or_insert((moment, heard.place));
                    });
                }
                for (text, trust) in split_by_trust(&passage.text, &passage, passed_on) {
                    let declares = *trust == TrustClass::RepoFile && is_manifest;
                    // What a comment says is said to whoever reads it, and declares nothing.
                    let mut found = if declares { find(&without_comments(text)) } else { find(text) };
                    if !declares && !matches!(trust, TrustClass::User | TrustClass::Agent) {
                        let installed: BTreeSet<String> = match found.iter().any(|at| is_common(names.get(*at))) {
                            true => find_packages(&fold_lookalikes(text)).collect(),
                            false => BTreeSet::new(),
                        };
                        found.retain(|at| {
                            !is_common(names.get(*at)) || names.get(*at).is_some_and(|name| installed.contains(name))
                        });
                    }
                    let is_file = *trust == TrustClass::RepoFile && passage.level == EvidenceLevel::Citation;
                    for at in found {
                        let is_other = names
                            .get(at)
                            .and_then(|name| self.names.get(name))
                            .is_some_and(|(kind, _)| *kind != NameKind::Package);
                        self.note(names.get(at), |readings| match trust {
                            TrustClass::User => readings.person = true,
                            TrustClass::Agent => drop(readings.agent.get_or_insert(moment)),
                            // What the project's files and history show is its own; what is installed must be declared.
                            trust
                                if !is_foreign(trust)
                                    && ((is_file && is_manifest) || (is_other && is_file && !is_list)) =>
                            {
                                readings.declared.get_or_insert(moment);
                            }
                            trust if is_foreign(trust) => {
                                readings.foreign.get_or_insert((moment, heard.place));
                            }
                            _ => {
                                readings.output.get_or_insert((moment, heard.place));
                            }
                        });
                    }
                    if !matches!(trust, TrustClass::User | TrustClass::Agent) {
                        self.note_halves(text, &mut ends, moment, heard.place);
                    }
                }
            }
        }
    }

    /// Notes packages of which one output held the beginning, and a later one the rest.
    fn note_halves(&mut self, text: &str, ends: &mut Vec<String>, moment: usize, place: StepReference) {
        let folded = fold_lookalikes(text).to_lowercase();
        for (name, (kind, readings)) in &mut self.names {
            if *kind != NameKind::Package || readings.output.is_some() || readings.foreign.is_some() {
                continue;
            }
            let is_split =
                name.char_indices().map(|(at, _)| at).filter(|at| *at >= 2 && name.len() - at >= 2).any(|at| {
                    let (head, tail) = name.split_at(at);
                    ends.iter().any(|end| end.ends_with(head))
                        && folded
                            .split_whitespace()
                            .any(|word| word.trim_start_matches(['`', '"', '\'']).starts_with(tail))
                });
            if is_split {
                readings.output = Some((moment, place));
            }
        }
        let last = folded.lines().map(str::trim_end).filter(|line| !line.is_empty());
        let last: Vec<String> =
            last.map(|line| line.chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect()).collect();
        ends.extend(last.into_iter().rev().take(4));
        let surplus = ends.len().saturating_sub(400);
        ends.drain(..surplus);
    }

    fn note(&mut self, name: Option<&String>, note: impl FnOnce(&mut FirstReadings)) {
        if let Some((_, readings)) = name.and_then(|name| self.names.get_mut(name)) {
            note(readings);
        }
    }

    /// Returns why a person must review a text: a decisive word of it comes from nobody of the project.
    pub(super) fn find_strange_word(&self, text: &str) -> Option<String> {
        plain_views(text).iter().find_map(|view| {
            let words: HashSet<String> = name_words(view).collect();
            let own: BTreeMap<String, NameKind> = find_names(view).collect();
            self.names.iter().find_map(|(name, (kind, readings))| {
                // A short word may be any word; what is installed under it is named with its command.
                if *kind == NameKind::Hyphenated {
                    return None;
                }
                let is_telling = *kind != NameKind::Package || !is_common(Some(name));
                let is_named = (is_telling && words.contains(name)) || own.contains_key(name);
                let place = is_named.then(|| readings.strange_place(name, *kind))??;
                let at = format!("t{}.s{}", place.trajectory, place.step);
                Some(format!("`{name}` was read in {at} before anybody of the project named it"))
            })
        })
    }

    /// Returns why a person must review advice: a name in it was read in an output first.
    pub(super) fn find_strange_name(&self, advice: &str) -> Option<String> {
        let folded = fold_lookalikes(advice);
        let words: Vec<String> = name_words(&folded).collect();
        (0..words.len()).find_map(|at| {
            let name = words.get(at)?;
            // What a runner of the project runs is one of its tasks.
            let before = words.get(at.saturating_sub(2)..at).unwrap_or_default();
            if before.iter().any(|word| matches!(word.as_str(), "run" | "task" | "script" | "make" | "just")) {
                return None;
            }
            let (kind, readings) = self.names.get(name)?;
            let place = readings.strange_place(name, *kind)?;
            let at = format!("t{}.s{}", place.trajectory, place.step);
            (*kind == NameKind::Hyphenated).then(|| format!("`{name}` was read in {at} before the agent named it"))
        })
    }

    /// Returns why a person must review advice: words of it stood in a part of an output that was not kept.
    pub(super) fn find_clipped_words(&self, text: &str) -> Option<String> {
        let one = self.clipped_texts.iter().find(|one| !one.is_project_file && one.shares_words(text))?;
        Some(format!("what it says stood in the middle of the output of t{}.s{}", one.trajectory, one.step))
    }
}

fn is_listing(command: &str) -> bool {
    command.split_whitespace().next().is_some_and(|program| matches!(program, "ls" | "find" | "tree" | "fd"))
}

fn is_of_step(words: &crate::context::ClippedWords, place: StepReference) -> bool {
    words.trajectory == place.trajectory && words.step == place.step
}

/// Tells whether a name may be any word, so that it is a package only next to the command that installs it.
fn is_common(name: Option<&String>) -> bool {
    name.is_some_and(|name| name.len() <= MAX_COMMON_NAME && name.chars().all(char::is_alphabetic))
}

/// Returns the lines of a file that are no comments, without their line numbers.
fn without_comments(text: &str) -> String {
    let is_comment = |line: &&str| {
        let bare = line.trim_start_matches(|c: char| c.is_whitespace() || c.is_ascii_digit() || c == '|' || c == '→');
        ["#", "//", "*", "/*", "<!--", ";", "--"].iter().any(|start| bare.starts_with(start))
    };
    text.lines().filter(|line| !is_comment(line)).collect::<Vec<_>>().join("\n")
}

impl FirstReadings {
    /// Returns the place where a stranger's text named it first, if nobody of the project did before.
    fn strange_place(&self, name: &str, kind: NameKind) -> Option<StepReference> {
        if self.person {
            return None;
        }
        let outputs = match kind {
            NameKind::Setting if is_plain_setting(name) => None,
            NameKind::Package | NameKind::Address | NameKind::Setting | NameKind::Hyphenated => self.output,
            // Programs name their own flags; what weakens safety is looked at elsewhere.
            NameKind::Flag => None,
        };
        let (moment, place) = [outputs, self.foreign].into_iter().flatten().min_by_key(|(moment, _)| *moment)?;
        let is_own = |own: Option<usize>| own.is_some_and(|own| own < moment);
        (!is_own(self.agent) && !is_own(self.declared)).then_some(place)
    }
}

/// Returns true if a setting chooses between words or numbers of a program, and neither loads nor reaches anything.
fn is_plain_setting(setting: &str) -> bool {
    const LOADING: &[&str] = &[
        "url",
        "uri",
        "host",
        "proxy",
        "path",
        "opt",
        "flag",
        "arg",
        "load",
        "registr",
        "index",
        "mirror",
        "source",
        "endpoint",
        "server",
        "remote",
        "token",
        "key",
        "secret",
        "hook",
        "shell",
        "editor",
        "pager",
        "cmd",
        "command",
        "exec",
        "config",
        "askpass",
        "telemetry",
        "upload",
        "export",
        "report",
        "allow",
        "disable",
        "enable",
        "skip",
        "ignore",
        "insecure",
        "unsafe",
        "bypass",
        "trust",
        "no_",
        "user",
        "home",
        "dir",
        "file",
        "plugin",
        "agent",
    ];
    let Some((name, value)) = setting.split_once('=') else { return false };
    let is_plain = value.len() <= MAX_PLAIN_VALUE && value.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    is_plain && !LOADING.iter().any(|part| name.contains(part))
}

/// Returns the decisive words of a text, in lower case.
fn find_names(view: &str) -> impl Iterator<Item = (String, NameKind)> {
    let packages = find_packages(view).map(|name| (name, NameKind::Package));
    let addresses = find_addresses(view).into_iter().map(|name| (name, NameKind::Address));
    let words = view.split(|c: char| c.is_whitespace() || "`\"'()<>,;|".contains(c));
    let others = words.filter_map(|word| {
        let word = word.trim_end_matches(['.', ':', '!', '?']);
        if let Some(flag) = word.strip_prefix("--") {
            let flag = flag.split('=').next().unwrap_or(flag);
            return (flag.len() >= MIN_NAME).then(|| (format!("--{}", flag.to_lowercase()), NameKind::Flag));
        }
        let is_hyphenated = word.len() >= MIN_HYPHENATED
            && word.contains('-')
            && word.split('-').all(|part| part.len() > 3 && part.chars().all(char::is_alphanumeric));
        if is_hyphenated {
            return Some((word.to_lowercase(), NameKind::Hyphenated));
        }
        let (name, value) = word.split_once('=')?;
        let is_name =
            name.len() >= MIN_NAME && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        (is_name && !value.is_empty()).then(|| (word.to_lowercase(), NameKind::Setting))
    });
    packages.chain(addresses).chain(others).collect::<Vec<_>>().into_iter()
}

/// Returns the words of a text as names are compared.
fn name_words(view: &str) -> impl Iterator<Item = String> {
    view.split(|c: char| c.is_whitespace() || "`\"'()<>,;|&[]{}“”".contains(c)).flat_map(|word| {
        let bare = word.trim_end_matches(['.', ':', '!', '?']).to_lowercase();
        let short = package_name(&bare);
        short.into_iter().chain([bare])
    })
}

/// A way to write a name.
struct NameForm {
    text: String,
    /// True if it may be a part of a longer word.
    is_joined: bool,
}

/// Returns a name as it is written, and in the encodings that can be read without a key.
fn encoded_forms(name: &str) -> Vec<NameForm> {
    let mut forms = vec![NameForm { text: name.to_owned(), is_joined: false }];
    if name.len() < MIN_ENCODED_NAME {
        return forms;
    }
    let turn = |c: char| match c {
        'a'..='m' => char::from_u32(u32::from(c) + 13).unwrap_or(c),
        'n'..='z' => char::from_u32(u32::from(c) - 13).unwrap_or(c),
        c => c,
    };
    let percent = |byte: u8| {
        if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02x}") }
    };
    let turned = [name.chars().map(turn).collect(), name.chars().rev().collect()];
    forms.extend(turned.into_iter().map(|text| NameForm { text, is_joined: false }));
    let mut joined =
        vec![name.bytes().map(|byte| format!("{byte:02x}")).collect(), name.bytes().map(percent).collect::<String>()];
    // Its place in the text decides which letters of base64 stand for a name, so there are three forms of it.
    for shift in 0..3 {
        let padded = [vec![b' '; shift], name.as_bytes().to_vec()].concat();
        let letters = encode_base64(&padded);
        let skipped = if shift == 0 { 0 } else { shift + 1 };
        let kept = (padded.len() * 8 / 6).saturating_sub(skipped);
        joined.extend(letters.get(skipped..skipped + kept).map(str::to_owned));
    }
    joined.retain(|form| form != name);
    forms.extend(joined.into_iter().map(|text| NameForm { text, is_joined: true }));
    forms
}

fn encode_base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    let (mut bits, mut count) = (0_u32, 0_u32);
    let push = |value: u32, out: &mut String| {
        let index = usize::try_from(value & 63).unwrap_or_default();
        out.push(char::from(LETTERS.get(index).copied().unwrap_or(b'A')));
    };
    for byte in bytes {
        bits = (bits << 8 | u32::from(*byte)) & 0x00ff_ffff;
        count += 8;
        while count >= 6 {
            count -= 6;
            push(bits >> count, &mut out);
        }
    }
    if count > 0 {
        push(bits << (6 - count), &mut out);
    }
    out
}
