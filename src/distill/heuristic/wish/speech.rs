//! A person's words as plainly as they can be put: in sentences, spelled out, without small talk, an order where one is
//! asked for politely. English only: what is said in another language is left as it is, and hardly ever understood.

use super::super::words::any;
use super::lexicon::{TOOLS, deed};

#[cfg(test)]
#[path = "speech_tests.rs"]
mod tests;

/// What people say before they say what they want.
const OPENERS: &str = "no, |no |no. |no! |no - |nope, |nope. |stop. |stop, |stop! |wait, |wait. |wait - |actually, |actually |\
    please |kindly |hey, |hm, |hmm, |hm. |hmm. |hm |hmm |ugh, |ugh. |ugh |oh, |ah, |well, |sure, but |thanks, but |fine, but |\
    nice, but |good, but |ok, |okay, |ok |but |and |also, |also |again, |again: |sorry, |then, |\
    i told you: |i told you, |i told you to |i told you |i said |i said: |as i said, |as i said: |\
    like i said, |hold on, |hold on. |hold on - |hold up, |wait: |btw, |btw |by the way, |nope: |no: |\
    let's not do it like that. |note: |note that |fyi, |fyi: |\
    wrong. |wrong, |that's wrong. |undo that. |revert that. |don't do that. |just so you know, |careful: |careful, |careful. |\
    not like that. |not like this. |generally, |so ";

/// Words that follow a "no" that stands for itself.
const AFTER_NO: &str = "we|i|you|use|don't|do|not|never|always|stop|that|that's|this|it's|it|please|wait|put|keep|make|leave|run|just|go|\
    write|add|edit|the|tests|no|all|everything|our|only|in|from|there|they|ask|commit|push|install|test|revert|undo|they're|we're";

/// Small talk: a clause of nothing else is none of the wish.
const TALK: &str = "ok|okay|cool|great|nice|good|thanks|thank|hey|hi|hello|hm|hmm|ugh|argh|sigh|right|alright|fine|sure|yes|yeah|yep|\
    perfect|awesome|lovely|excellent|sorry|wow|well|amazing|neat";
const AROUND_TALK: &str = "work|job|you|so|much|this|that|is|it|all|the|a|an|but|and|very|really|done|man|dude|looks|look|overall|mostly|\
    there|almost|now|for|stuff|start|one|like|going|direction|in|again|no|team|everyone|everybody|then";

/// Words with which people announce that they are about to say something.
const ANNOUNCED: &str = "thing|things|point|request|note|nit|nitpick|reminder|remark|wish|favor|favour|convention|rule|feedback|ask|\
    recurring";
const ANNOUNCING: &str = "one|another|a|small|quick|last|final|tiny|minor|general|little|important|side|my|only|some|the|nit|nitpick|just|also";

/// Beginnings of a clause that only leads up to the next.
const ASIDES: &str = "let me be clear|let me repeat|to be clear|just to be clear|for the record|heads up|heads-up|just a heads|just so you know|for future reference|\
    for the future|for next time|how many times|for fuck|for god|for heaven|come on|seriously|in general|generally speaking|once more";

/// Beginnings of a clause of blame: it leads up to the next if more than a comma stands between them.
const BLAME: &str = "i told you|i've told you|i said|as i said|like i said|as mentioned|as i mentioned|since i|since you|you did it again|\
    remember for|i don't think you|looks like you|before you go on|before we go on|before you continue|before we continue|again";

/// What makes an announcement one of something that lasts.
const FOR_LONG: &str =
    "future|going forward|moving forward|next time|general|recurring|convention|rule|remember|reminder|reference";

/// Spellings of a chat, and how they are written.
const SPELLINGS: &[(&str, &str)] = &[
    ("pls", "please"),
    ("plz", "please"),
    ("plse", "please"),
    ("dont", "don't"),
    ("doesnt", "doesn't"),
    ("didnt", "didn't"),
    ("isnt", "isn't"),
    ("arent", "aren't"),
    ("cant", "can't"),
    ("wont", "won't"),
    ("shouldnt", "shouldn't"),
    ("mustnt", "mustn't"),
    ("thats", "that's"),
    ("youre", "you're"),
    ("u", "you"),
    ("ur", "your"),
    ("thx", "thanks"),
    ("bc", "because"),
    ("cuz", "because"),
    ("im", "I'm"),
    ("ive", "I've"),
];

/// Words that are shouted, and not names.
const SHOUTED: &str = "not|always|never|must|also|do|don't|only|all|any|ever|every|please|stop|no|everything|nothing|again|anything|before|first";

/// Sentences of a line. A full stop within a name ends none, and a word that only stresses what was said begins none.
pub(super) fn sentences(line: &str) -> Vec<&str> {
    let mut ends = Vec::new();
    let mut is_code = false;
    let has_code = line.matches('`').count().is_multiple_of(2);
    for (at, mark) in line.char_indices() {
        is_code ^= mark == '`' && has_code;
        if is_code || !matches!(mark, '.' | '!' | '?' | ';') {
            continue;
        }
        let end = at + mark.len_utf8();
        let is_short = ["e.g.", "i.e.", "etc.", "vs.", "incl."]
            .iter()
            .any(|short| line.get(..end).is_some_and(|head| head.ends_with(short)));
        if !is_short && line.get(end..).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')) {
            ends.push(end);
        }
    }
    ends.push(line.len());
    let mut found: Vec<(usize, usize)> = Vec::new();
    let mut start = 0;
    for end in ends {
        let piece = line.get(start..end).unwrap_or_default();
        match found.last_mut().filter(|last| carries_on(line.get(last.0..last.1).unwrap_or_default(), piece)) {
            Some(last) => last.1 = end,
            None => found.push((start, end)),
        }
        start = end;
    }
    let cut = found.into_iter().filter_map(|(start, end)| line.get(start..end));
    cut.map(str::trim).filter(|sentence| !sentence.is_empty()).collect()
}

/// "pnpm!! not npm", "never push to main. Ever."
fn carries_on(last: &str, piece: &str) -> bool {
    let words: Vec<String> =
        piece.split_whitespace().map(|word| word.trim_matches(['.', '!', '?']).to_lowercase()).collect();
    let is_contrast = words.first().is_some_and(|word| word == "not") && words.len() <= 3;
    match words.as_slice() {
        [word] => matches!(word.as_str(), "ever" | "period" | "please" | "pls"),
        _ => is_contrast && last.split_whitespace().count() <= 2,
    }
}

/// The words spelled out, without emoji and shouting. What stands in backticks is left alone.
pub(super) fn plain(said: &str) -> String {
    let mut out = String::with_capacity(said.len());
    let is_loud = is_shouted(said);
    for (at, part) in said.split('`').enumerate() {
        if at > 0 {
            out.push('`');
        }
        if at % 2 == 1 {
            out.push_str(part);
        } else {
            out.push_str(&spelled(part, is_loud));
        }
    }
    out.trim().to_owned()
}

fn spelled(part: &str, is_loud: bool) -> String {
    let mut marked = String::with_capacity(part.len());
    for c in part.chars().filter(|c| !is_emoji(*c)) {
        let c = if matches!(c, '’' | '‘') { '\'' } else { c };
        match (marked.chars().next_back(), c) {
            (Some('!' | '?'), '!') => {}
            (Some('!'), '?') => {
                marked.pop();
                marked.push('?');
            }
            (Some('?'), '?') => {}
            _ => marked.push(c),
        }
    }
    // One sentence that was cut by a mark in the middle.
    let whole = marked.replace("! ", ", ").replace(". ever", ", ever").replace(". Ever", ", ever");
    let words = whole.split(' ').map(|word| word_spelled(word, is_loud));
    words.collect::<Vec<_>>().join(" ")
}

fn word_spelled(word: &str, is_loud: bool) -> String {
    let core = word.trim_matches(|c: char| !c.is_alphanumeric());
    let lower = core.to_lowercase();
    let known = SPELLINGS.iter().find(|(chat, _)| *chat == lower).map(|(_, written)| (*written).to_owned());
    let is_stressed = core.len() > 1 && core == core.to_uppercase() && any(SHOUTED, |known| known == lower);
    let quiet = || match lower.as_str() {
        "i" | "i'm" | "i've" | "i'd" | "i'll" => core.to_owned(),
        _ => lower.clone(),
    };
    let new = known.or_else(|| (is_loud || is_stressed).then(quiet));
    match new {
        Some(new) if !core.is_empty() => word.replacen(core, &new, 1),
        _ => word.to_owned(),
    }
}

/// Whether a whole sentence is in capitals.
fn is_shouted(said: &str) -> bool {
    const FEWEST: usize = 10;
    let letters = || said.chars().filter(|c| c.is_alphabetic());
    letters().count() >= FEWEST && !letters().any(char::is_lowercase) && said.contains(' ')
}

/// Whether a person raised their voice.
pub(super) fn is_loud(said: &str) -> bool {
    let is_stressed = said.split_whitespace().any(|word| {
        let core = word.trim_matches(|c: char| !c.is_alphanumeric());
        core.len() > 1 && core == core.to_uppercase() && any(SHOUTED, |known| known == core.to_lowercase())
    });
    is_stressed || is_shouted(said) || said.contains("!!") || said.contains("??") || said.contains("?!")
}

fn is_emoji(c: char) -> bool {
    matches!(u32::from(c), 0x1F000..=0x1FAFF | 0x2600..=0x27BF | 0xFE0F | 0x200D | 0x2B50)
}

/// What is left behind a beginning, in whatever letters it is written.
pub(super) fn behind<'t>(text: &'t str, beginning: &str) -> Option<&'t str> {
    let head = text.get(..beginning.len())?;
    head.eq_ignore_ascii_case(beginning).then(|| text.get(beginning.len()..)).flatten()
}

/// A sentence without what only leads up to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bare<'t> {
    pub(super) text: &'t str,
    /// It was announced as something that lasts.
    pub(super) is_for_long: bool,
}

/// Cuts what only leads up to what somebody wants: "ok cool, one more thing: …", "hey, great work, but …".
pub(super) fn bare(sentence: &str) -> Bare<'_> {
    let mut rest = sentence.trim();
    let mut is_for_long = false;
    loop {
        let next = match led_up(rest) {
            Some((head, tail)) => {
                is_for_long |= any(FOR_LONG, |words| head.to_lowercase().contains(words));
                tail
            }
            None => without_opener(rest),
        };
        if next.len() == rest.len() {
            break;
        }
        rest = next;
    }
    if let Some(behind) = ["in general ", "generally "].iter().find_map(|lead| behind(rest, lead)) {
        is_for_long = true;
        rest = without_opener(behind);
    }
    // "Keep it short, please."
    let unstopped = rest.trim_end_matches(['.', '!', ' ']);
    let text = unstopped.strip_suffix(", please").or_else(|| unstopped.strip_suffix(" please")).unwrap_or(rest);
    Bare { text, is_for_long }
}

/// The clause that leads up to the rest, and the rest.
fn led_up(text: &str) -> Option<(&str, &str)> {
    const MARKS: &[&str] = &[": ", ", ", " - ", " — ", " – ", "... ", "… "];
    const MOST: usize = 3;
    let mut cuts: Vec<(usize, &str)> = MARKS.iter().flat_map(|mark| text.match_indices(mark).take(MOST)).collect();
    cuts.sort_unstable();
    cuts.into_iter().take(MOST).find_map(|(at, mark)| {
        let (head, tail) = (text.get(..at)?, text.get(at + mark.len()..)?);
        let is_enough = tail.split_whitespace().nth(1).is_some();
        (is_enough && !head.contains('`') && is_talk(head, tail, mark)).then_some((head, tail))
    })
}

fn is_talk(head: &str, tail: &str, mark: &str) -> bool {
    const LONGEST: usize = 16;
    let lower = head.to_lowercase();
    let words: Vec<&str> =
        lower.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric())).collect();
    let is_known = |list: &str, word: &str| any(list, |known| known == word);
    let is_chat = words.iter().all(|word| is_known(TALK, word) || is_known(AROUND_TALK, word))
        && words.iter().any(|word| is_known(TALK, word));
    let is_praise =
        words.first().is_some_and(|word| is_known(TALK, word) || matches!(*word, "looks" | "love" | "works"))
            && behind(tail, "but ").is_some();
    let is_announced = words.first().is_some_and(|word| is_known(ANNOUNCING, word))
        && words.iter().take(5).any(|word| is_known(ANNOUNCED, word))
        && !words.contains(&"is");
    let is_aside =
        any(ASIDES, |aside| lower.starts_with(aside)) || (mark != ", " && any(BLAME, |blame| lower.starts_with(blame)));
    let is_told = ["remember", "reminder", "know"].iter().any(|end| lower.ends_with(end));
    words.len() <= LONGEST && (is_chat || is_praise || is_announced || is_aside || (is_told && mark == ": "))
}

fn without_opener(sentence: &str) -> &str {
    let mut rest = sentence.trim_start_matches(['-', '*', ' ', '—', '–']);
    while let Some(bare) = OPENERS.split('|').find_map(|opener| behind(rest, opener)) {
        // "No more print debugging", "no force pushes": wishes of their own.
        let is_no = behind(rest, "no ").is_some();
        let next = bare.split([' ', ',', '.', ':']).next().unwrap_or_default().to_lowercase();
        if is_no && !AFTER_NO.split('|').any(|word| word == next) {
            break;
        }
        rest = bare.trim_start_matches(['-', '—', '–', ' ', ',']);
    }
    rest
}

/// What was asked for politely, as an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) order: String,
    /// It was asked for as an agreement.
    pub(super) is_for_long: bool,
}

/// The form of the word in which the deed stands behind a polite beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Doing,
    Done,
}

const ASKING: &[(Form, &str)] = &[
    (Form::Doing, "would you mind |do you mind "),
    (
        Form::Plain,
        "could you |can you |would you |will you |i want you to |i'd like you to |i would like you to |i need you to |\
        i'd prefer you to |i'd ask you to |it would be better to |it'd be better to ",
    ),
    (
        Form::Done,
        "i'd appreciate it if you |i would appreciate it if you |i'd appreciate if you |it would be great if you |\
        it'd be great if you |it would be nice if you |it'd be nice if you |i'd be happy if you |i'd prefer it if you |\
        i'd prefer if you |i'd rather you |i would rather you |i'd love it if you ",
    ),
];

/// Beginnings of an agreement: what follows is to last.
const AGREEING: &str = "can we agree that you |can we agree that we |can we agree to |could we agree that you |could we agree that we |\
    could we agree to |can we please agree that you |let's agree that you |let's agree that we |let's agree to ";

/// "Could you not use sed?" asks for what "don't use sed" asks for.
pub(super) fn asked(text: &str) -> Option<Asked> {
    let text = text.trim_end_matches(['?', '.', '!', ' ']);
    if is_choice(text) {
        return Some(Asked { order: format!("use {text}"), is_for_long: false });
    }
    if let Some(behind) =
        ["why do you keep ", "why are you always ", "why do you always "].iter().find_map(|why| behind(text, why))
    {
        let (first, rest) = behind.split_once(' ')?;
        let order =
            if first.ends_with("ing") { format!("stop {behind}") } else { format!("don't {} {rest}", deed(first)?) };
        return Some(Asked { order, is_for_long: true });
    }
    if let Some(behind) = ["i don't want you to "].iter().find_map(|start| behind(text, start)) {
        return Some(Asked { order: format!("don't {behind}"), is_for_long: false });
    }
    if let Some(behind) = AGREEING.split('|').find_map(|start| behind(text, start)) {
        return Some(Asked { order: behind.to_owned(), is_for_long: true });
    }
    let lasting = |rest: &str| {
        ["always ", "never ", "stop ", "not "].iter().any(|word| behind(without_softness(rest), word).is_some())
    };
    if let Some(rest) =
        ["can we ", "could we "].iter().find_map(|start| behind(text, start)).filter(|rest| lasting(rest))
    {
        return ordered(Form::Plain, rest);
    }
    let (form, rest) = ASKING.iter().find_map(|(form, starts)| {
        let mut starts = starts.split('|').filter(|start| !start.is_empty());
        starts.find_map(|start| behind(text, start)).map(|rest| (*form, rest))
    })?;
    ordered(form, rest)
}

/// "pnpm, not npm".
fn is_choice(text: &str) -> bool {
    let words: Vec<&str> = text.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    matches!(words.as_slice(), [one, "not", other] if [one, other].iter().all(|word| any(TOOLS, |tool| tool == **word)))
}

fn ordered(form: Form, rest: &str) -> Option<Asked> {
    let soft = without_softness(rest);
    // "… if you could keep it short"
    let (form, rest) = match ["could ", "would "].iter().find_map(|word| behind(soft, word)) {
        Some(rest) => (Form::Plain, without_softness(rest)),
        None => (form, soft),
    };
    let (lead, rest) =
        [("not ", "don't "), ("didn't ", "don't "), ("don't ", "don't "), ("always ", "always "), ("never ", "never ")]
            .iter()
            .find_map(|(word, lead)| behind(rest, word).map(|rest| (*lead, rest)))
            .unwrap_or(("", rest));
    let form = if lead == "don't " && form == Form::Done { Form::Plain } else { form };
    let (verb, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let verb = match form {
        Form::Plain => verb.to_owned(),
        Form::Doing | Form::Done => deed(&verb.to_lowercase())?,
    };
    let order = format!("{lead}{verb} {rest}");
    (order.split_whitespace().count() >= 2).then(|| Asked { order: order.trim().to_owned(), is_for_long: false })
}

fn without_softness(text: &str) -> &str {
    let mut rest = text;
    while let Some(harder) = ["please ", "kindly ", "maybe ", "perhaps ", "possibly ", "also ", "just "]
        .iter()
        .find_map(|word| behind(rest, word))
    {
        rest = harder;
    }
    rest
}
