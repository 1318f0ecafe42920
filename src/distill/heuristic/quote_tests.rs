use super::super::test_support::Session;
use super::{any, before, deed, few, output, said};
use crate::distill::claim::Place;

fn at(step: u32) -> Place {
    Place { trajectory: 0, step }
}

#[test]
fn words_are_taken_from_whoever_said_them() {
    let context = Session::new("please build it")
        .fails("make  all\nmake docs", "first\nerror: missing separator")
        .context(Vec::new());
    assert_eq!(said(&context, at(1), "please build it").unwrap().text, "please build it");
    assert_eq!(deed(&context, at(2), "make  all\nmake docs").unwrap().text, "make  all");
    assert_eq!(output(&context, at(2), "error: missing separator").unwrap().text, "error: missing separator");
    assert_eq!(before(&context, at(2)).unwrap().text, "make  all");
    assert!(deed(&context, at(2), "error: missing separator").is_none());
    assert!(output(&context, at(2), "never printed").is_none());
    assert!(any(&context, at(9), "make all").is_none());
}

#[test]
fn short_words_and_repeated_ones_prove_nothing() {
    let context = Session::new("go").passes("ls -l", "a").passes("make all", "done").context(Vec::new());
    assert!(deed(&context, at(2), "ls -l").is_none());
    let quote = deed(&context, at(3), "make all");
    assert_eq!(few([quote.clone(), None, quote]).len(), 1);
}
