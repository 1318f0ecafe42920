use super::super::test_support::Did::User;
use super::super::test_support::{claim, session, verified};
use super::*;
use crate::domain::{Importance, ImportanceScale};

fn candidates(of: &[(&str, f64)]) -> Vec<Candidate> {
    let context = session(&[User("Use pnpm and tabs and Postgres 16 and port 5433 and the cache.")]);
    let one = |(summary, importance): &(&str, f64)| {
        let mut made = claim(summary, None, &[(1, "Use pnpm and tabs and Postgres 16 and port 5433")]);
        made.importance = Importance::parse(*importance, ImportanceScale::Undeclared).unwrap();
        verified(&context, vec![made]).candidates.remove(0)
    };
    of.iter().map(one).collect()
}

#[test]
fn the_best_stay_once_each() {
    let made = candidates(&[
        ("Use tabs for Postgres 16", 0.5),
        ("Use pnpm", 0.5),
        ("Postgres listens on port 5433", 0.9),
        ("Postgres listens on port 5433.", 0.8),
        ("Use pnpm in the cache", 0.05),
        ("Use tabs with pnpm", 0.4),
    ]);
    let limits = CandidateLimits { max_candidates: 3, min_importance: 0.1 };
    let mut dropped = Vec::new();
    let kept = rank_candidates(made, &limits, &mut dropped);
    let summaries: Vec<&str> = kept.iter().map(|one| one.summary.as_str()).collect();
    assert_eq!(summaries, ["Postgres listens on port 5433", "Use pnpm", "Use tabs for Postgres 16"]);
    let reasons: Vec<&DropReason> = dropped.iter().map(|one| &one.why).collect();
    assert_eq!(reasons, [&DropReason::Repeated, &DropReason::TooMany, &DropReason::Unimportant]);
}

#[test]
fn the_order_of_the_claims_does_not_matter() {
    let made = candidates(&[("Use pnpm", 0.5), ("Use tabs", 0.5), ("Postgres listens on port 5433", 0.5)]);
    let mut reversed = made.clone();
    reversed.reverse();
    let limits = CandidateLimits { max_candidates: 2, min_importance: 0.1 };
    assert_eq!(rank_candidates(made, &limits, &mut Vec::new()), rank_candidates(reversed, &limits, &mut Vec::new()));
}
