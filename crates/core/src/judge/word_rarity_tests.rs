use super::*;
use crate::domain::{FacetValues, MemoryCategory, MemoryKind};
use crate::judge::LessonStatement;
use crate::text::WordSplitter;

fn features(summary: &str) -> LessonFeatures {
    let facets = FacetValues::default();
    let (kind, category) = (&MemoryKind::Lesson, &MemoryCategory::Heuristic);
    LessonFeatures::extract(
        &LessonStatement { summary, rule: None, tags: &[], facets: &facets, kind, category },
        &mut WordSplitter::default(),
    )
}

#[test]
fn what_many_lessons_have_is_less_rare() {
    let lessons: Vec<LessonFeatures> = (0..50).map(|number| features(&format!("kafka item{number}"))).collect();
    let background = WordFrequencies::from_lessons(&lessons);
    assert!(background.word_rarity("kafka") < background.word_rarity("item7"));
    assert!(background.word_rarity("kafka") < WordFrequencies::default().word_rarity("kafka"));
}

#[test]
fn ordinary_words_are_common_before_anything_was_counted() {
    let background = WordFrequencies::default();
    assert!(background.word_rarity("file") > 0.0);
    assert!(background.word_rarity("run") < background.word_rarity("elasticsearch"));
}
