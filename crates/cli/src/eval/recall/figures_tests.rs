use super::RankingFigures;

#[test]
fn a_ranking_is_worth_what_it_puts_first() {
    let grades = [("a".to_owned(), 1.0), ("b".to_owned(), 1.0)].into_iter().collect();
    let check = |ranked: &[&str], ndcg: f64, recall: f64, first: f64| {
        let found = RankingFigures::from_ranking(ranked, &grades);
        assert!((found.ndcg10 - ndcg).abs() < 1e-6, "{ranked:?} {found:?}");
        assert_eq!((found.recall5, found.first), (recall, first), "{ranked:?}");
    };
    check(&["a", "b", "c"], 1.0, 1.0, 1.0);
    check(&["c", "a"], 0.386_853, 0.5, 0.0);
    check(&["c", "d", "e", "f", "g", "a"], 0.218_407, 0.0, 0.0);
    check(&[], 0.0, 0.0, 0.0);
}

#[test]
fn a_better_answer_counts_more() {
    let grades = [("a".to_owned(), 2.0), ("b".to_owned(), 1.0)].into_iter().collect();
    assert!(
        RankingFigures::from_ranking(&["a", "b"], &grades).ndcg10
            > RankingFigures::from_ranking(&["b", "a"], &grades).ndcg10
    );
}
