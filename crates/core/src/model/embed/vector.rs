//! The vector of a text's meaning.

#[cfg(test)]
#[path = "vector_tests.rs"]
mod tests;

/// The largest deviation from one that the squared length of a stored vector may have.
const TOLERANCE: f32 = 1e-3;

/// A vector of length one, made only from numbers that have a direction.
#[derive(Debug, Clone, PartialEq)]
pub struct EmbeddingVector(Vec<f32>);

impl EmbeddingVector {
    /// Scales numbers to length one. Returns `None` if they have no direction: none at all, all zero, or not finite.
    pub fn from_numbers(mut numbers: Vec<f32>) -> Option<Self> {
        // The squares of very large and very small numbers overflow or vanish.
        let largest = numbers.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
        if !numbers.iter().all(|number| number.is_finite()) || largest < f32::MIN_POSITIVE {
            return None;
        }
        for number in &mut numbers {
            *number /= largest;
        }
        let length = squared_length(&numbers).sqrt();
        for number in &mut numbers {
            *number /= length;
        }
        Some(Self(numbers))
    }

    /// Takes stored numbers without changing a bit. Returns `None` if they are not of length one.
    pub(super) fn from_stored(numbers: Vec<f32>) -> Option<Self> {
        ((squared_length(&numbers) - 1.0).abs() < TOLERANCE).then_some(Self(numbers))
    }

    /// Returns the cosine of two vectors, from -1 to 1. It is 0 for vectors of different dimensions.
    pub fn cosine_similarity(&self, other: &Self) -> f32 {
        if self.0.len() != other.0.len() {
            return 0.0;
        }
        self.0.iter().zip(&other.0).map(|(one, two)| one * two).sum::<f32>().clamp(-1.0, 1.0)
    }

    /// Returns the vector's numbers.
    pub fn as_slice(&self) -> &[f32] {
        &self.0
    }

    /// Returns the number of dimensions.
    pub fn dimensions(&self) -> usize {
        self.0.len()
    }
}

fn squared_length(numbers: &[f32]) -> f32 {
    numbers.iter().map(|number| number * number).sum()
}
