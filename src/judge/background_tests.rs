use super::*;
use crate::domain::{Facets, MemoryCategory, MemoryKind};
use crate::judge::Saying;
use crate::text::Cutter;

fn features(summary: &str) -> Features {
    let facets = Facets::default();
    let (kind, category) = (&MemoryKind::Lesson, &MemoryCategory::Heuristic);
    Features::of(&Saying { summary, rule: None, tags: &[], facets: &facets, kind, category }, &mut Cutter::default())
}

#[test]
fn what_many_lessons_have_is_less_rare() {
    let lessons: Vec<Features> = (0..50).map(|number| features(&format!("kafka item{number}"))).collect();
    let background = Background::of(&lessons);
    assert!(background.rarity("kafka") < background.rarity("item7"));
    assert!(background.rarity("kafka") < Background::default().rarity("kafka"));
}

#[test]
fn ordinary_words_are_common_before_anything_was_counted() {
    let background = Background::default();
    assert!(background.rarity("file") > 0.0);
    assert!(background.rarity("run") < background.rarity("elasticsearch"));
}
