use super::{BenignTextSet, LabelledSecretLine, score_redactor};
use crate::redact::Redactor;

fn line(text: &str, label: u8, rule: &str) -> LabelledSecretLine {
    LabelledSecretLine { text: text.to_owned(), label, rule: rule.to_owned(), secret: None }
}

#[test]
fn recall_is_counted_by_set_and_by_rule() {
    let lines = [
        line("password=hunter22", 1, "a"),
        line("nothing", 1, "b"),
        line("none", 0, "b"),
        line("PASSWORD=tiger12x", 0, "b"),
    ];
    let texts = ["one\ntwo\n".to_owned(), "my password is hunter22".to_owned()];
    let scores =
        score_redactor(&Redactor::new(), &[("set", &lines)], &[BenignTextSet { name: "clean", texts: &texts }]);
    let set = &scores.sets[0];
    assert!((set.recall - 0.5).abs() < 1e-9);
    assert!((set.macro_recall - 0.5).abs() < 1e-9);
    assert_eq!((set.others, set.others_hit), (2, 1));
    assert_eq!((scores.benign[0].lines, scores.benign[0].hits), (3, 1));
}
