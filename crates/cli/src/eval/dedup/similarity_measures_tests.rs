use super::*;

#[test]
fn letters_in_common_keep_their_order() {
    let check = |one, other, expected| assert_eq!(common_subsequence_length(one, other), expected, "{one} {other}");
    check("", "abc", 0);
    check("abc", "abc", 3);
    check("abc", "cba", 1);
    check("kitten", "sitting", 4);
    check(&"ab".repeat(100), &"ab".repeat(100), MAX_LETTERS);
}

#[test]
fn the_plain_measures_are_what_they_are_elsewhere() {
    let texts = ["alpha gamma delta epsilon", "alpha beta", "alpha beta"].map(str::to_owned);
    let texts = ComparedTexts::new(&texts, None);
    let check = |measure, known, new, expected: f64| {
        let found = texts.measure_similarity(measure, known, new);
        assert!((found - expected).abs() < 1e-9, "{measure:?} {found}");
    };
    check(SimilarityMeasure::Overlap, 0, 1, 0.5);
    check(SimilarityMeasure::Overlap, 1, 0, 0.25);
    check(SimilarityMeasure::Jaccard, 0, 1, 0.2);
    check(SimilarityMeasure::TokenSet, 1, 2, 1.0);
    check(SimilarityMeasure::TfIdf, 1, 2, 1.0);
    check(SimilarityMeasure::JaroWinkler, 1, 2, 1.0);
    check(SimilarityMeasure::Archivist, 1, 2, 1.0);
    check(SimilarityMeasure::Cosine, 1, 2, 0.0);
}
