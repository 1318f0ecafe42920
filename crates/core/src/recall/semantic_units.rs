//! Splits texts into units that a sentence model can read, and computes how close a question is to them.

#[cfg(test)]
#[path = "semantic_units_tests.rs"]
mod tests;

/// The number of words up to which a text is one unit.
const ONE_UNIT: usize = 75;
/// The fewest words of a unit in a longer text.
const UNIT: usize = 50;
/// The most words of a unit: a model reads no further.
const LONGEST: usize = 180;
/// The most units of a text.
pub const MOST_UNITS: usize = 8;

/// The correction for texts of many units, which have more chances to be close to anything: each e-fold of units costs
/// this much.
pub const CHANCE: f64 = 0.06;

/// Splits a text into units, at the ends of sentences and lines where possible.
pub fn split_into_units(text: &str) -> Vec<String> {
    let all = text.split_whitespace().count();
    if all <= ONE_UNIT {
        return vec![text.to_owned()];
    }
    let size = all.div_ceil(MOST_UNITS).clamp(UNIT, LONGEST);
    let mut units: Vec<String> = Vec::new();
    let mut unit: Vec<&str> = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace().peekable();
        while let Some(word) = words.next() {
            unit.push(word);
            let is_end = words.peek().is_none() || word.ends_with(['.', '!', '?']);
            if unit.len() >= size + size / 4 || (is_end && unit.len() >= size) {
                units.push(std::mem::take(&mut unit).join(" "));
            }
        }
    }
    match units.last_mut() {
        Some(_) if unit.is_empty() => {}
        Some(last) if unit.len() * 3 < size => *last = format!("{last} {}", unit.join(" ")),
        _ => units.push(unit.join(" ")),
    }
    units.truncate(MOST_UNITS);
    units
}

/// Returns how close a question is to a text, given how close it is to each of its units. `None` without units.
pub fn closest_similarity(cosines: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut best, mut count) = (None, 0.0_f64);
    for cosine in cosines {
        best = Some(best.map_or(cosine, |best: f64| best.max(cosine)));
        count += 1.0;
    }
    best.map(|best| best - CHANCE * count.ln())
}

/// Returns the cosine of two vectors of length one, from -1 to 1.
pub fn cosine_similarity(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(one, two)| one * two).sum::<f32>().clamp(-1.0, 1.0)
}
