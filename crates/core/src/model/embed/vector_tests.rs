use proptest::prelude::*;

use super::EmbeddingVector;

#[test]
fn numbers_without_a_direction_make_no_vector() {
    for numbers in [vec![], vec![0.0, 0.0], vec![f32::NAN, 1.0], vec![f32::INFINITY, 1.0], vec![1e-45, 0.0]] {
        assert_eq!(EmbeddingVector::from_numbers(numbers.clone()), None, "{numbers:?}");
    }
}

#[test]
fn opposite_equal_and_unrelated_directions_are_told_apart() {
    let east = EmbeddingVector::from_numbers(vec![2.0, 0.0]).unwrap();
    let north = EmbeddingVector::from_numbers(vec![0.0, 0.1]).unwrap();
    let west = EmbeddingVector::from_numbers(vec![-1.0, 0.0]).unwrap();
    assert_eq!(
        (east.cosine_similarity(&east), east.cosine_similarity(&north), east.cosine_similarity(&west)),
        (1.0, 0.0, -1.0)
    );
}

#[test]
fn vectors_of_different_dimensions_have_nothing_in_common() {
    let flat = EmbeddingVector::from_numbers(vec![1.0, 1.0]).unwrap();
    let deep = EmbeddingVector::from_numbers(vec![1.0, 1.0, 1.0]).unwrap();
    assert_eq!(flat.cosine_similarity(&deep), 0.0);
}

#[test]
fn what_was_stored_is_taken_as_it_is_or_not_at_all() {
    let vector = EmbeddingVector::from_numbers(vec![0.1, 0.2, 0.3]).unwrap();
    assert_eq!(EmbeddingVector::from_stored(vector.as_slice().to_vec()), Some(vector));
    for numbers in [vec![], vec![0.5], vec![1.1, 0.0], vec![f32::NAN, 1.0]] {
        assert_eq!(EmbeddingVector::from_stored(numbers.clone()), None, "{numbers:?}");
    }
}

proptest! {
    #[test]
    fn any_finite_numbers_come_to_length_one(numbers in prop::collection::vec(prop::num::f32::NORMAL, 1..50)) {
        let vector = EmbeddingVector::from_numbers(numbers).expect("normal numbers have a direction");
        let length: f64 = vector.as_slice().iter().map(|&number| f64::from(number).powi(2)).sum();
        prop_assert!((length - 1.0).abs() < 1e-5, "{length}");
        prop_assert!((vector.cosine_similarity(&vector) - 1.0).abs() < 1e-5);
    }
}
