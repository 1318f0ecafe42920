//! Texts cut into units that a sentence model can take in, and how close a question is to them.

#[cfg(test)]
#[path = "meaning_tests.rs"]
mod tests;

/// A text of up to so many words is one unit.
const ONE_UNIT: usize = 75;
/// A longer one is cut into units of at least so many.
const UNIT: usize = 50;
/// No unit is longer: a model reads no further.
const LONGEST: usize = 180;
/// And there are at most so many of them.
pub const MOST_UNITS: usize = 8;

/// A text of many units has more chances to be close to anything; each e-fold of them takes this much away.
pub const CHANCE: f64 = 0.06;

/// Cuts a text into units, at the ends of sentences and lines where it can.
pub fn units(text: &str) -> Vec<String> {
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

/// How close a question is to a text, given how close it is to each of its units. `None` where there are none.
pub fn closest(cosines: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut best, mut count) = (None, 0.0_f64);
    for cosine in cosines {
        best = Some(best.map_or(cosine, |best: f64| best.max(cosine)));
        count += 1.0;
    }
    best.map(|best| best - CHANCE * count.ln())
}

/// How close two vectors of length one are, from -1 to 1.
pub fn cosine(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(one, two)| one * two).sum::<f32>().clamp(-1.0, 1.0)
}
