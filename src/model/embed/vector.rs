//! A direction in the space of meanings.

#[cfg(test)]
#[path = "vector_tests.rs"]
mod tests;

/// How far the square of a stored vector's length may be from one.
const TOLERANCE: f32 = 1e-3;

/// A vector of length one. Made only from numbers that have a direction.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector(Vec<f32>);

impl Vector {
    /// Brings numbers to length one. `None` where they have no direction: none at all, all zero, or not finite.
    pub fn unit(mut numbers: Vec<f32>) -> Option<Self> {
        // Large and tiny numbers have squares that are no numbers any more.
        let largest = numbers.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
        if !numbers.iter().all(|number| number.is_finite()) || largest < f32::MIN_POSITIVE {
            return None;
        }
        for number in &mut numbers {
            *number /= largest;
        }
        let length = square(&numbers).sqrt();
        for number in &mut numbers {
            *number /= length;
        }
        Some(Self(numbers))
    }

    /// Takes numbers as they were stored, to the last bit. `None` where they are not of length one.
    pub(super) fn stored(numbers: Vec<f32>) -> Option<Self> {
        ((square(&numbers) - 1.0).abs() < TOLERANCE).then_some(Self(numbers))
    }

    /// How close two directions are, from -1 to 1. Vectors of different models have nothing in common: 0.
    pub fn cosine(&self, other: &Self) -> f32 {
        if self.0.len() != other.0.len() {
            return 0.0;
        }
        self.0.iter().zip(&other.0).map(|(one, two)| one * two).sum::<f32>().clamp(-1.0, 1.0)
    }

    /// Its numbers.
    pub fn as_slice(&self) -> &[f32] {
        &self.0
    }

    /// How many numbers it has.
    pub fn dimensions(&self) -> usize {
        self.0.len()
    }
}

fn square(numbers: &[f32]) -> f32 {
    numbers.iter().map(|number| number * number).sum()
}
