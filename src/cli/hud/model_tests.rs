use super::super::test_support::{id, known, lesson, look, model, now, press, told};
use super::*;
use crate::domain::MemoryState;

fn selected(model: &Model) -> &str {
    model.selected().map_or("", |row| row.name.as_str())
}

#[test]
fn keys_move_and_turn() {
    let check = |keys: &str, view: View, focus: Focus, name: &str| {
        let mut model = model(100, 30);
        press(&mut model, keys);
        assert_eq!((model.view, model.focus, selected(&model)), (view, focus, name), "after {keys}");
    };
    check("", View::Lessons, Focus::List, "m-005");
    check("j", View::Lessons, Focus::List, "m-004");
    check("<down><down><up>", View::Lessons, Focus::List, "m-004");
    check("<up>", View::Lessons, Focus::List, "m-005");
    check("jjjjjjjjkk", View::Lessons, Focus::List, "m-003");
    check("<end>", View::Lessons, Focus::List, "m-001");
    check("G<home>", View::Lessons, Focus::List, "m-005");
    check("<pgdn>", View::Lessons, Focus::List, "m-001");
    check("<pgdn><pgup>", View::Lessons, Focus::List, "m-005");
    check("<tab>", View::Sessions, Focus::List, "failed");
    check("<tab><tab>", View::Quarantine, Focus::List, "m-007");
    check("<backtab>", View::Queue, Focus::List, "new");
    check("<tab><tab><tab><tab>", View::Lessons, Focus::List, "m-005");
    check("3", View::Quarantine, Focus::List, "m-007");
    check("j3j1", View::Lessons, Focus::List, "m-004");
    check("<enter>", View::Lessons, Focus::Page, "m-005");
    check("<enter>jj", View::Lessons, Focus::Page, "m-005");
    check("<enter><esc>j", View::Lessons, Focus::List, "m-004");
    check("l<tab>", View::Sessions, Focus::List, "failed");
    check("?jjk<esc>j", View::Lessons, Focus::List, "m-004");
}

#[test]
fn a_page_turns_as_far_as_it_goes() {
    let mut model = model(80, 24);
    press(&mut model, "<enter>j");
    assert_eq!(model.page_top, 1);
    press(&mut model, "<end>");
    let height = usize::from(model.layout().unwrap().page.unwrap().body.height);
    assert_eq!(model.page_top + height, model.page().len(), "the last line is in sight");
    model.update(Message::Resized(Size::new(200, 60)));
    assert_eq!(model.page_top, 0, "on a larger screen all of it is");
    press(&mut model, "<home><esc>j");
    assert_eq!(model.page_top, 0);
}

#[test]
fn a_search_shows_what_holds_its_words() {
    let check = |keys: &str, mode: Mode, expected: &[&str]| {
        let mut model = model(100, 30);
        press(&mut model, keys);
        let names: Vec<&str> = model.shown().iter().map(|row| row.name.as_str()).collect();
        assert_eq!((&model.mode, names), (&mode, expected.to_vec()), "after {keys}");
    };
    let all = ["m-005", "m-004", "m-003", "m-002", "m-001"];
    check("/RG repo", Mode::Search, &["m-003"]);
    check("/docker", Mode::Search, &["m-005"]);
    check("/実行<enter>", Mode::Browse, &["m-004"]);
    check("/m-00", Mode::Search, &all);
    check("/rg<esc>", Mode::Browse, &all);
    check("/rg<enter><esc>", Mode::Browse, &all);
    check("/rx<back>g<enter>", Mode::Browse, &["m-003", "m-002"]);
    check("/<back>", Mode::Browse, &all);
    check("/shard rg<ctrl-w><enter>", Mode::Browse, &["m-002"]);
    check("/nonsense<ctrl-u>grep", Mode::Search, &["m-003"]);
    check("/qpfy", Mode::Search, &[]);
    check("/failed<enter>2", Mode::Browse, &["failed", "success"]);
}

#[test]
fn a_decision_is_asked_for_and_made_by_y_alone() {
    let check = |keys: &str, mode: Mode, effect: Option<Effect>| {
        let mut model = model(100, 30);
        let found = press(&mut model, keys);
        let found = found.filter(|effect| !matches!(effect, Effect::Ask(_)));
        assert_eq!((model.mode, found), (mode, effect), "after {keys}");
    };
    let order = |verb, number: u64| Order { verb, id: id(number), name: format!("m-{number:03}") };
    check("p", Mode::Confirm(order(Verb::Promote, 5)), None);
    check("py", Mode::Browse, Some(Effect::Order(order(Verb::Promote, 5))));
    check("jry", Mode::Browse, Some(Effect::Order(order(Verb::Reject, 4))));
    check("fY", Mode::Browse, Some(Effect::Order(order(Verb::Forget, 5))));
    check("fn", Mode::Browse, None);
    check("f<esc>", Mode::Browse, None);
    check("fq", Mode::Browse, None);
    check("fj<enter>", Mode::Confirm(order(Verb::Forget, 5)), None);
    check("f<ctrl-c>", Mode::Confirm(order(Verb::Forget, 5)), Some(Effect::Quit));
    check("3ay", Mode::Browse, Some(Effect::Order(order(Verb::Approve, 7))));
    check("3<enter>ry", Mode::Browse, Some(Effect::Order(order(Verb::Reject, 7))));
    check("ay", Mode::Browse, None);
    check("3py", Mode::Browse, None);
    check("2fy", Mode::Browse, None);
    check("4fy", Mode::Browse, None);
    check("q", Mode::Browse, Some(Effect::Quit));
    check("/q", Mode::Search, None);
    check("/x<alt-q>", Mode::Browse, Some(Effect::Quit));
    check("f<alt-y>", Mode::Browse, None);
    check("/<ctrl-c>", Mode::Search, Some(Effect::Quit));
    check("?q", Mode::Browse, None);
}

#[test]
fn what_cannot_be_decided_is_told_and_forgotten_with_the_next_key() {
    let check = |keys: &str, note: Option<Note>| {
        let mut model = model(100, 30);
        press(&mut model, keys);
        assert_eq!(model.note, note, "after {keys}");
    };
    check("a", Some(Note::Bad("m-005 is not in quarantine; p promotes it".to_owned())));
    check("3p", Some(Note::Bad("m-007 is in quarantine; a approves it".to_owned())));
    check("2f", Some(Note::Bad("only lessons are decided about".to_owned())));
    check("fn", Some(Note::Good("m-005 stays as it is".to_owned())));
    check("aj", None);
}

#[test]
fn what_is_pasted_is_never_taken_for_keys() {
    let mut model = model(100, 30);
    assert_eq!(model.update(Message::Pasted("fy".to_owned())), None);
    assert_eq!(model.mode, Mode::Browse);
    press(&mut model, "/");
    model.update(Message::Pasted("rg\nover\u{1b}".to_owned()));
    assert_eq!((model.search.as_str(), selected(&model)), ("rg over", "m-003"));
}

#[test]
fn what_is_selected_stays_so_when_others_come_and_go() {
    let mut model = model(100, 30);
    press(&mut model, "jj");
    let mut more = known();
    let newer = Known::of(vec![lesson(9, "Newer", MemoryState::Active)], Vec::new());
    more.lessons.splice(0..0, newer.lessons);
    model.update(Message::Looked(look(Some(more))));
    assert_eq!((selected(&model), model.cursor().at), ("m-003", 3));
    let mut less = known();
    less.lessons.retain(|row| row.name != "m-003");
    model.update(Message::Looked(look(Some(less))));
    assert_eq!(selected(&model), "m-001", "what stands in its place");
    model.update(Message::Looked(look(Some(Known::default()))));
    assert_eq!(selected(&model), "");
    press(&mut model, "<enter>jfy");
    assert_eq!((model.focus, &model.mode), (Focus::List, &Mode::Browse));
}

#[test]
fn what_comes_is_marked_until_it_is_looked_at() {
    let mut model = model(100, 30);
    assert!(model.fresh.is_empty(), "what was there before is not new");
    let mut more = known();
    let newer = Known::of(vec![lesson(9, "Newer", MemoryState::Active)], Vec::new());
    more.lessons.splice(0..0, newer.lessons);
    model.update(Message::Looked(look(Some(more.clone()))));
    assert_eq!(model.fresh, BTreeSet::from([id(9).to_string()]));
    press(&mut model, "j");
    assert!(!model.fresh.is_empty(), "another was looked at");
    press(&mut model, "<home>j");
    assert!(model.fresh.is_empty());
    model.update(Message::Looked(look(Some(known()))));
    model.update(Message::Looked(look(Some(more))));
    model.update(Message::Looked(look(Some(known()))));
    assert!(model.fresh.is_empty(), "it is gone");
}

#[test]
fn one_question_at_a_time_and_again_when_something_was_written() {
    let mut model = model(100, 30);
    let answer = |number| Message::Answered { id: id(number), grounds: Err("gone".to_owned()) };
    assert_eq!(press(&mut model, "j"), Some(Effect::Ask(id(4))));
    assert_eq!(press(&mut model, "j"), None, "one is under way");
    assert_eq!(press(&mut model, "j"), None);
    assert_eq!(model.update(answer(4)), Some(Effect::Ask(id(2))), "those in between do not matter any more");
    assert_eq!(model.update(answer(2)), None);
    assert_eq!(model.update(Message::Looked(look(None))), None);
    assert_eq!(model.update(Message::Looked(look(Some(known())))), Some(Effect::Ask(id(2))));
    assert_eq!(press(&mut model, "2"), None, "runs are known in full");
}

#[test]
fn a_look_that_finds_nothing_is_not_drawn() {
    let check = |look: Look, expected: bool| assert_eq!(model(100, 30).is_news(&look), expected);
    check(look(None), false);
    check(look(Some(known())), true);
    check(Look { told: told(), ..look(None) }, true);
    check(Look { trouble: Some("the disk is gone".to_owned()), ..look(None) }, true);
    check(Look { waiting: Some(Box::default()), ..look(None) }, true);
    check(Look { at: now() + chrono::TimeDelta::seconds(59), ..look(None) }, false);
    check(Look { at: now() + chrono::TimeDelta::seconds(60), ..look(None) }, true);
}

#[test]
fn only_the_last_of_the_feed_is_kept() {
    let mut model = model(100, 30);
    for _ in 0..300 {
        model.update(Message::Looked(Look { told: told(), ..look(None) }));
    }
    assert_eq!(model.feed.len(), KEPT);
    assert_eq!(model.feed.front(), told().last(), "the newest first");
}
