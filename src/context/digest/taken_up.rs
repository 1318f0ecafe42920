//! The words of outputs that the agent takes up later: in what it says, runs or writes. They show what an output was
//! read for.

use std::collections::{BTreeMap, HashMap};

use super::order::Place;
use super::parts::{What, parts};
use crate::domain::{Speaker, Trajectory};

/// Shorter words are in every output.
const MIN_WORD_BYTES: usize = 5;

/// A word that more than one step in so many holds says little of any of them.
const RARE_SHARE: usize = 8;

/// So much of one part is looked at.
const MAX_PART_BYTES: usize = 64 * 1024;

/// The words of each step's outputs that were taken up, each with its weight.
pub(super) type TakenUp = BTreeMap<Place, BTreeMap<String, u32>>;

/// Where a word stands.
struct Seen {
    /// The first output that says it, and the last one before the agent does.
    outputs: Option<(usize, usize)>,
    last: usize,
    steps: usize,
    is_own: bool,
    is_taken: bool,
    is_spoken: bool,
}

/// Finds the words that an output says and the agent uses only afterwards.
pub(super) fn taken_up(trajectories: &[Trajectory]) -> TakenUp {
    let mut taken = TakenUp::new();
    for (index, trajectory) in trajectories.iter().enumerate() {
        let mut seen: HashMap<String, Seen> = HashMap::new();
        for (at, step) in trajectory.steps.iter().enumerate().filter(|(_, step)| !step.copied) {
            for part in parts(step) {
                let is_output = matches!(part.what, What::Output(_)) || step.speaker == Speaker::System;
                for word in words(&part.text) {
                    let new =
                        Seen { outputs: None, last: at, steps: 1, is_own: false, is_taken: false, is_spoken: false };
                    let known = seen.entry(word).or_insert(new);
                    known.steps += usize::from(known.last != at);
                    known.last = at;
                    if is_output && !known.is_own {
                        known.outputs = Some((known.outputs.map_or(at, |(first, _)| first), at));
                    } else if !is_output {
                        let is_taken =
                            known.outputs.is_some_and(|(_, last)| last < at) && step.speaker == Speaker::Agent;
                        known.is_own = true;
                        known.is_taken |= is_taken;
                        known.is_spoken |= is_taken && matches!(part.what, What::Said);
                    }
                }
            }
        }
        let rare = (trajectory.steps.len() / RARE_SHARE).max(3);
        for (word, known) in seen {
            if let Some((first, _)) = known.outputs.filter(|_| known.is_taken && known.steps <= rare) {
                let weight =
                    u32::try_from(24 / known.steps.max(1)).unwrap_or_default() * if known.is_spoken { 3 } else { 1 };
                taken.entry((index, first)).or_default().insert(word, weight);
            }
        }
    }
    taken
}

/// Splits a text into its longer words and its pairs of neighbouring words, in lower case.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> {
    let text = text.get(..text.floor_char_boundary(MAX_PART_BYTES)).unwrap_or_default();
    let is_word = |word: &&str| word.len() >= 2 && word.len() <= 64;
    let mut last = "";
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(is_word).flat_map(move |word| {
        let pair = (!last.is_empty()).then(|| format!("{last} {word}").to_lowercase());
        last = word;
        pair.into_iter().chain((word.len() >= MIN_WORD_BYTES).then(|| word.to_lowercase()))
    })
}
