//! A person's standing wishes: how they want it done from now on, not what this one task needs.

use super::super::claim::{Claim, Place};
use super::command;
use super::quote;
use super::scene::{Deed, Scene};
use super::standing::{Role, Spoken, without_asking};
use super::weigh::{self, Ground};
use super::words::{capital, cut, relative};
use crate::context::{Action, SignalKind};
use crate::domain::{DropReason, Dropped, Facets, MemoryCategory, MemoryKind, MemoryScope, Severity, Speaker};

#[cfg(test)]
#[path = "wish_tests.rs"]
mod tests;

/// How much of a person's words stands in a summary.
const SHOWN_CHARACTERS: usize = 250;

/// A wish is told in so many of their sentences at most.
const MOST_SENTENCES: usize = 2;

/// A longer message is a new order, not a remark.
const MAX_CHARACTERS: usize = 2000;

/// How many deeds before a remark it may be about.
const LOOKED_BACK: usize = 12;

/// What people say before they say what they want.
const OPENERS: &str = "no, |no |no. |no! |no - |nope, |nope. |stop. |stop, |stop! |wait, |wait. |wait - |actually, |actually |\
    please |pls |hey, |hm, |hmm, |hm. |hmm. |hm |hmm |oh, |ah, |well, |sure, but |thanks, but |fine, but |nice, but |good, but |ok, |okay, |ok |but |and |also, |also |again, |again: |sorry, |\
    i told you: |i told you, |i told you to |i told you |i said |i said: |as i said, |as i said: |\
    like i said, |hold on, |hold on. |hold on - |wait: |small thing: |one more thing: |quick note: |btw, |btw |by the way, |nope: |no: |let's not do it like that. |one thing: |note: |note that |remember: |reminder: |fyi, |fyi: |\
    wrong. |wrong, |that's wrong. |undo that. |revert that. |don't do that. |for the future: |\
    for future reference, |for future reference: |just so you know, |careful: |careful, |careful. |not like that. |not like this. |in general, |generally, |so ";

/// Words that follow a "no" that stands for itself.
const AFTER_NO: &str = "we|i|you|use|don't|dont|do|not|never|always|stop|that|that's|this|it's|it|please|wait|put|keep|make|leave|run|just|go|\
    write|add|edit|the|tests|no|all|everything|our|only|in|from|there|they|ask|commit|push|install|test|revert|undo|they're|we're";

/// Claims from what people said, and what was left out.
pub(super) fn claims(scene: &Scene<'_>, dropped: &mut Vec<Dropped>) -> Vec<Claim> {
    let mut claims: Vec<Claim> = Vec::new();
    let corrected: Vec<Place> = scene
        .context
        .signals
        .iter()
        .filter(|signal| signal.kind == SignalKind::UserCorrection)
        .map(|signal| Place { trajectory: signal.trajectory, step: signal.step })
        .collect();
    for (index, trajectory) in scene.context.trajectories.iter().enumerate() {
        let Ok(index) = u32::try_from(index) else { break };
        let mut has_agent_spoken = false;
        for step in trajectory.steps.iter().filter(|step| !step.copied) {
            has_agent_spoken |= step.speaker == Speaker::Agent;
            let place = Place { trajectory: index, step: step.number };
            if step.speaker != Speaker::User || !has_agent_spoken {
                continue;
            }
            let is_correction = corrected.contains(&place);
            let before = before(scene, place);
            match wish(&step.text, &before, is_correction, scene.root(index)) {
                Some(wish) => {
                    if let Some(claim) = claim(scene, place, &wish, &before)
                        && !claims.iter().any(|known| known.summary == claim.summary)
                    {
                        claims.push(claim);
                    }
                }
                None if is_correction => dropped.push(Dropped {
                    summary: cut(&step.text.split_whitespace().collect::<Vec<_>>().join(" "), 160),
                    why: DropReason::OneOff,
                    detail: "a remark on this one task".to_owned(),
                }),
                None => {}
            }
        }
    }
    claims
}

/// What the agent did last before somebody spoke, the newest first.
fn before<'s, 'c>(scene: &'s Scene<'c>, place: Place) -> Vec<&'s Deed<'c>> {
    let end = scene.deeds.partition_point(|deed| deed.place < place);
    let deeds = scene.deeds.iter().take(end).rev();
    deeds.take_while(|deed| deed.place.trajectory == place.trajectory).take(LOOKED_BACK).collect()
}

/// How somebody wants it done, made to stand alone, and the words it was taken from.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Wish {
    sentence: String,
    /// What to do, as an order.
    order: String,
    said: Vec<String>,
    is_forbidding: bool,
}

/// One sentence of a person.
#[derive(Debug)]
struct Remark<'t> {
    said: &'t str,
    /// Without what people say before they say what they want.
    bare: &'t str,
    lower: String,
    role: Role,
}

impl<'t> Remark<'t> {
    fn of(said: &'t str, before: &[&Deed<'_>], is_correction: bool) -> Self {
        let whole = Self::read(said, said, before, is_correction);
        // "Fine for now, but in future …"
        if let Some((_, rest)) = said.split_once(", but ").filter(|_| whole.role == Role::Passing) {
            let part = Self::read(said, rest, before, is_correction);
            if part.role == Role::Standing {
                return part;
            }
        }
        // "A reminder: never push."
        match said.split_once(": ").filter(|_| whole.role != Role::Standing) {
            Some((_, rest)) => Some(Self::read(said, rest, before, is_correction))
                .filter(|part| {
                    part.role == Role::Standing || (whole.role == Role::Passing && part.role != Role::Passing)
                })
                .unwrap_or(whole),
            None => whole,
        }
    }

    fn read(said: &'t str, words: &'t str, before: &[&Deed<'_>], is_correction: bool) -> Self {
        let bare = without_opener(words);
        let lower = bare.to_lowercase().replace('’', "'");
        let role = Spoken::new(&lower).role(before, is_correction);
        Self { said, bare, lower, role }
    }

    fn spoken(&self) -> Spoken<'_> {
        Spoken::new(&self.lower)
    }

    /// As a sentence of its own.
    fn sentence(&self, before: &[&Deed<'_>], root: &str) -> String {
        let bare = self.bare.trim_end_matches(['.', '!', ';', ' ']);
        let told = match bare.strip_prefix("you keep ").or_else(|| bare.strip_prefix("You keep ")) {
            Some(habit) => format!("Stop {habit}"),
            None => match without_asking(self.lower.trim_end_matches('?')) {
                Some(asked) => {
                    let rest =
                        asked.strip_prefix("not ").map_or_else(|| asked.to_owned(), |rest| format!("don't {rest}"));
                    capital(&rest)
                }
                None => named(bare, before, root).unwrap_or_else(|| capital(bare)),
            },
        };
        format!("{told}.")
    }
}

/// "That file is generated" with the file's name, where the last edit tells it.
fn named(bare: &str, before: &[&Deed<'_>], root: &str) -> Option<String> {
    let lower = bare.to_lowercase();
    let pointer =
        ["that file ", "this file ", "the file ", "that one "].iter().find(|pointer| lower.starts_with(**pointer))?;
    let rest = bare.get(pointer.len()..)?;
    let changes = before.iter().find_map(|deed| match &deed.action {
        Action::Edit(changes) => Some(changes),
        _ => None,
    })?;
    Some(format!("`{}` {rest}", relative(&changes.first()?.path, Some(root))))
}

fn wish(text: &str, before: &[&Deed<'_>], is_correction: bool, root: &str) -> Option<Wish> {
    if text.chars().nth(MAX_CHARACTERS).is_some() {
        return None;
    }
    let mut said: Vec<&str> = Vec::new();
    let mut is_fenced = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("```") {
            is_fenced = !is_fenced;
        } else if !is_fenced && !line.starts_with('>') {
            said.extend(sentences(line));
        }
    }
    let is_remark = is_correction || is_remark(&said, before);
    let remarks: Vec<Remark<'_>> = said.into_iter().map(|said| Remark::of(said, before, is_remark)).collect();
    let core = core(&remarks)?;
    let picks: Vec<&Remark<'_>> = with_company(&remarks, core).into_iter().filter_map(|at| remarks.get(at)).collect();
    let sentences: Vec<String> = picks.iter().map(|remark| remark.sentence(before, root)).collect();
    // What to do is what was asked for; what is told as a fact is no order yet.
    let orders: Vec<String> = picks
        .iter()
        .zip(&sentences)
        .filter(|(remark, _)| remark.spoken().is_order() || remark.lower.starts_with("you keep "))
        .map(|(_, sentence)| {
            let order = small(sentence.trim_end_matches('.'));
            let told_off = ["you should ", "you must ", "you need to ", "you have to "];
            told_off.iter().find_map(|start| order.strip_prefix(start)).map(str::to_owned).unwrap_or(order)
        })
        .collect();
    let facts: Vec<String> = picks
        .iter()
        .zip(&sentences)
        .filter(|(remark, _)| !remark.spoken().is_order() && !remark.lower.starts_with("you"))
        .map(|(_, sentence)| small(sentence.trim_end_matches('.')))
        .collect();
    let only_forbids = picks.iter().all(|remark| !remark.spoken().is_order() || remark.spoken().is_forbidding());
    let order = match orders.as_slice() {
        [] => format!("keep to this: {}", facts.join("; ")),
        orders if only_forbids => orders.iter().chain(&facts).cloned().collect::<Vec<_>>().join("; "),
        orders => orders.join("; "),
    };
    Some(Wish {
        sentence: cut(&sentences.join(" "), SHOWN_CHARACTERS),
        order: cut(&order, SHOWN_CHARACTERS),
        said: picks.iter().map(|remark| remark.said.to_owned()).collect(),
        is_forbidding: picks.first().is_some_and(|remark| {
            ["never", "don't", "do not", "stop ", "we don't", "we never", "not ", "no "]
                .iter()
                .any(|word| remark.lower.starts_with(word))
        }),
    })
}

/// Whether a message is about what was done, and no new order: what is ruled out in an order holds for that order.
fn is_remark(said: &[&str], before: &[&Deed<'_>]) -> bool {
    const MOST: usize = 6;
    if said.first().is_some_and(|first| without_asking(first.to_lowercase().trim_end_matches('?')).is_some()) {
        return true;
    }
    let mut read = said.iter().map(|said| Remark::of(said, before, false));
    let first = read.find(|remark| remark.role != Role::Passing || remark.lower.starts_with("you "));
    let is_asked = said.first().is_some_and(|first| {
        let lower = first.to_lowercase();
        lower.ends_with('?') && !lower.starts_with("why")
    });
    !before.is_empty() && said.len() <= MOST && !is_asked && first.is_some_and(|first| first.role != Role::Order)
}

/// The sentence that matters most: one that is meant for good, or one of which another says so.
fn core(remarks: &[Remark<'_>]) -> Option<usize> {
    if let Some(standing) = remarks.iter().position(|remark| remark.role == Role::Standing) {
        return Some(standing);
    }
    let lasting = remarks.iter().position(|remark| remark.role == Role::Lasting)?;
    let is_meant = |at: &usize| {
        remarks.get(*at).is_some_and(|remark| {
            matches!(remark.role, Role::Order | Role::Fact)
                && remark.spoken().words.len() >= 4
                && !remark.spoken().leans()
        })
    };
    (0..lasting).rev().find(is_meant).or_else(|| (lasting + 1..remarks.len()).find(is_meant))
}

/// The sentence with the one that completes it: what to do instead, or what it leans on.
fn with_company(remarks: &[Remark<'_>], core: usize) -> Vec<usize> {
    let Some(remark) = remarks.get(core) else { return Vec::new() };
    let spoken = remark.spoken();
    let fits = |at: usize| {
        remarks.get(at).is_some_and(|other| {
            other.bare.chars().count() + remark.bare.chars().count() + 4 <= SHOWN_CHARACTERS && !other.bare.is_empty()
        })
    };
    let role = |at: usize| remarks.get(at).map(|remark| remark.role);
    let previous = core.checked_sub(1).filter(|at| fits(*at)).and_then(|at| Some((at, remarks.get(at)?)));
    if let Some((at, other)) = previous
        && (matches!(other.role, Role::Order | Role::Fact) || other.lower.starts_with("you"))
        && (spoken.leans()
            || spoken.words.iter().take(4).any(|word| *word == "one")
            || other.lower.starts_with("that file")
            || other.lower.starts_with("this file"))
    {
        return vec![at, core];
    }
    let forbids = spoken.is_forbidding();
    let completes = |at: usize| {
        let Some(other) = remarks.get(at).filter(|_| fits(at)) else { return false };
        match other.role {
            Role::Standing => true,
            Role::Order if spoken.is_order() || forbids => forbids != other.spoken().is_forbidding(),
            Role::Order => !other.spoken().points_back() || remark.said.ends_with(';'),
            _ => false,
        }
    };
    let reason = |at: usize| role(at) == Some(Role::Fact) && fits(at);
    let next = (core + 1..remarks.len()).take(MOST_SENTENCES).find(|at| completes(*at));
    match next {
        Some(next) => vec![core, next],
        None if core > 0 && role(core - 1) == Some(Role::Order) && completes(core - 1) => vec![core - 1, core],
        None if forbids && !spoken.has_instead() && core > 0 && reason(core - 1) => vec![core - 1, core],
        None if forbids && !spoken.has_instead() && reason(core + 1) => vec![core, core + 1],
        None => vec![core],
    }
}

/// A sentence as it goes on behind another word.
fn small(sentence: &str) -> String {
    let is_word = sentence
        .split_whitespace()
        .next()
        .is_some_and(|word| word.chars().skip(1).all(|c| c.is_lowercase() || c == '\''));
    let mut letters = sentence.chars();
    match letters.next() {
        Some(first) if is_word && !sentence.starts_with("I ") && !sentence.starts_with("I'") => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => sentence.to_owned(),
    }
}

/// Sentences of a line. A full stop within a name ends none.
fn sentences(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, mark) in line.char_indices().filter(|(_, c)| matches!(c, '.' | '!' | '?' | ';')) {
        let end = at + mark.len_utf8();
        let is_short = ["e.g.", "i.e.", "etc.", "vs.", "incl."]
            .iter()
            .any(|short| line.get(..end).is_some_and(|head| head.ends_with(short)));
        if !is_short && line.get(end..).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')) {
            found.extend(line.get(start..end));
            start = end;
        }
    }
    found.extend(line.get(start..));
    found.into_iter().map(str::trim).filter(|sentence| !sentence.is_empty()).collect()
}

fn without_opener(sentence: &str) -> &str {
    let mut rest = sentence.trim_start_matches(['-', '*', ' ', '—', '–']);
    while let Some(bare) = OPENERS.split('|').find_map(|opener| {
        let head: String =
            rest.chars().take(opener.chars().count()).collect::<String>().to_lowercase().replace('’', "'");
        (head == opener)
            .then(|| rest.char_indices().nth(opener.chars().count()).and_then(|(at, _)| rest.get(at..)))
            .flatten()
    }) {
        // "No more print debugging", "no force pushes": wishes of their own.
        let is_no = rest.get(..3).is_some_and(|head| head.eq_ignore_ascii_case("no "));
        let next = bare.split([' ', ',', '.', ':']).next().unwrap_or_default().to_lowercase();
        if is_no && !AFTER_NO.split('|').any(|word| word == next) {
            break;
        }
        rest = bare.trim_start_matches(['-', '—', '–', ' ', ',']);
    }
    // "Keep it short, please."
    let unstopped = rest.trim_end_matches(['.', '!', ' ']);
    unstopped.strip_suffix(", please").or_else(|| unstopped.strip_suffix(" please")).unwrap_or(rest)
}

fn claim(scene: &Scene<'_>, place: Place, wish: &Wish, before: &[&Deed<'_>]) -> Option<Claim> {
    let said: Vec<_> = wish.said.iter().map(|words| quote::said(scene.context, place, words)).collect();
    said.first()?.as_ref()?;
    let about = about(wish, before);
    let deed = about.and_then(|deed| match (&deed.action, deed.command()) {
        (_, Some(run)) => quote::deed(scene.context, deed.place, run),
        (Action::Edit(changes), _) => quote::deed(scene.context, deed.place, &changes.first()?.path),
        _ => None,
    });
    let root = scene.root(place.trajectory);
    let doing = about.and_then(|deed| match (&deed.action, deed.command()) {
        (_, Some(run)) => Some(format!("you are about to run `{}`", command::shown(&relative(run, Some(root))))),
        (Action::Edit(changes), _) => {
            Some(format!("you are about to edit `{}`", relative(&changes.first()?.path, Some(root))))
        }
        _ => None,
    });
    let lower = wish.sentence.to_lowercase();
    let category = match () {
        () if wish.is_forbidding => MemoryCategory::AntiPattern,
        () if ["before ", "after ", "commit", "branch", "always run", "pull request"]
            .iter()
            .any(|word| lower.contains(word)) =>
        {
            MemoryCategory::Workflow
        }
        () => MemoryCategory::Preference,
    };
    let run = about.and_then(|deed| deed.command()).map(|run| command::shown(&relative(run, Some(root))));
    let detail = match (&run, &doing) {
        (Some(run), _) => Some(format!("Said after the agent ran `{run}`.")),
        (None, Some(_)) => Some("Said after the agent edited files.".to_owned()),
        (None, None) => None,
    };
    Some(Claim {
        summary: wish.sentence.clone(),
        rule: Some(format!(
            "IF {} THEN {}.",
            doing.unwrap_or_else(|| "you work on this project".to_owned()),
            wish.order.trim_end_matches('.')
        )),
        detail,
        kind: MemoryKind::Preference,
        category,
        scope: MemoryScope::Project,
        facets: Facets::default(),
        tags: vec!["user-preference".to_owned()],
        importance: weigh::importance(Ground::Wish, 1, false),
        importance_reason: Some("a person said how they want it done from now on".to_owned()),
        severity: Some(Severity::Recommendation),
        quotes: quote::few(said.into_iter().chain([deed])),
        episodes: vec![scene.episode(place.trajectory)],
        near: Vec::new(),
    })
}

/// The deed that a wish is about: one that shares a word with it, else none.
fn about<'s, 'c>(wish: &Wish, before: &[&'s Deed<'c>]) -> Option<&'s Deed<'c>> {
    let lower = wish.sentence.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !(c.is_alphanumeric() || "_-./".contains(c)))
        .map(|word| word.trim_matches('.'))
        .collect();
    let shares = |deed: &&&'s Deed<'c>| match (&deed.action, &deed.line) {
        (_, Some(line)) => line.cores.iter().any(|core| {
            core.iter()
                .take(2)
                .any(|word| word.len() > 1 && words.contains(&command::base(word).to_lowercase().as_str()))
        }),
        (Action::Edit(changes), _) => changes.iter().any(|change| {
            let path = change.path.to_lowercase();
            words
                .iter()
                .any(|word| word.len() > 3 && (word.contains('/') || word.contains('.')) && path.contains(*word))
                || path.split('/').any(|part| part.len() > 3 && words.contains(&part))
        }),
        _ => false,
    };
    before.iter().find(shares).copied()
}
