use super::super::test_support::{id, known, lesson, look, model, now, press, told};
use super::*;
use archivist_core::domain::MemoryState;

fn selected(model: &HudModel) -> &str {
    model.selected_row().map_or("", |row| row.name.as_str())
}

#[test]
fn keys_move_and_turn() {
    let check = |keys: &str, view: HudTab, focus: FocusedPane, name: &str| {
        let mut model = model(100, 30);
        press(&mut model, keys);
        assert_eq!((model.view, model.focus, selected(&model)), (view, focus, name), "after {keys}");
    };
    check("", HudTab::Lessons, FocusedPane::List, "m-005");
    check("j", HudTab::Lessons, FocusedPane::List, "m-004");
    check("<down><down><up>", HudTab::Lessons, FocusedPane::List, "m-004");
    check("<up>", HudTab::Lessons, FocusedPane::List, "m-005");
    check("jjjjjjjjkk", HudTab::Lessons, FocusedPane::List, "m-003");
    check("<end>", HudTab::Lessons, FocusedPane::List, "m-001");
    check("G<home>", HudTab::Lessons, FocusedPane::List, "m-005");
    check("<pgdn>", HudTab::Lessons, FocusedPane::List, "m-001");
    check("<pgdn><pgup>", HudTab::Lessons, FocusedPane::List, "m-005");
    check("<tab>", HudTab::Sessions, FocusedPane::List, "failed");
    check("<tab><tab>", HudTab::Quarantine, FocusedPane::List, "m-007");
    check("<backtab>", HudTab::Queue, FocusedPane::List, "new");
    check("<tab><tab><tab><tab>", HudTab::Lessons, FocusedPane::List, "m-005");
    check("3", HudTab::Quarantine, FocusedPane::List, "m-007");
    check("j3j1", HudTab::Lessons, FocusedPane::List, "m-004");
    check("<enter>", HudTab::Lessons, FocusedPane::Page, "m-005");
    check("<enter>jj", HudTab::Lessons, FocusedPane::Page, "m-005");
    check("<enter><esc>j", HudTab::Lessons, FocusedPane::List, "m-004");
    check("l<tab>", HudTab::Sessions, FocusedPane::List, "failed");
    check("?jjk<esc>j", HudTab::Lessons, FocusedPane::List, "m-004");
}

#[test]
fn a_page_turns_as_far_as_it_goes() {
    let mut model = model(80, 24);
    press(&mut model, "<enter>j");
    assert_eq!(model.page_top, 1);
    press(&mut model, "<end>");
    let height = usize::from(model.layout().unwrap().page.unwrap().body.height);
    assert_eq!(model.page_top + height, model.page_lines().len(), "the last line is in sight");
    model.update(HudUpdate::Resized(Size::new(200, 60)));
    assert_eq!(model.page_top, 0, "on a larger screen all of it is");
    press(&mut model, "<home><esc>j");
    assert_eq!(model.page_top, 0);
}

#[test]
fn a_search_shows_what_holds_its_words() {
    let check = |keys: &str, mode: InputMode, expected: &[&str]| {
        let mut model = model(100, 30);
        press(&mut model, keys);
        let names: Vec<&str> = model.visible_rows().iter().map(|row| row.name.as_str()).collect();
        assert_eq!((&model.mode, names), (&mode, expected.to_vec()), "after {keys}");
    };
    let all = ["m-005", "m-004", "m-003", "m-002", "m-001"];
    check("/RG repo", InputMode::Search, &["m-003"]);
    check("/docker", InputMode::Search, &["m-005"]);
    check("/実行<enter>", InputMode::Browse, &["m-004"]);
    check("/m-00", InputMode::Search, &all);
    check("/rg<esc>", InputMode::Browse, &all);
    check("/rg<enter><esc>", InputMode::Browse, &all);
    check("/rx<back>g<enter>", InputMode::Browse, &["m-003", "m-002"]);
    check("/<back>", InputMode::Browse, &all);
    check("/shard rg<ctrl-w><enter>", InputMode::Browse, &["m-002"]);
    check("/nonsense<ctrl-u>grep", InputMode::Search, &["m-003"]);
    check("/qpfy", InputMode::Search, &[]);
    check("/failed<enter>2", InputMode::Browse, &["failed", "success"]);
}

#[test]
fn a_decision_is_asked_for_and_made_by_y_alone() {
    let check = |keys: &str, mode: InputMode, effect: Option<HudAction>| {
        let mut model = model(100, 30);
        let found = press(&mut model, keys);
        let found = found.filter(|effect| !matches!(effect, HudAction::Ask(_)));
        assert_eq!((model.mode, found), (mode, effect), "after {keys}");
    };
    let order = |verb, number: u64| HudDecision { verb, id: id(number), name: format!("m-{number:03}") };
    check("p", InputMode::Confirm(order(DecisionVerb::Promote, 5)), None);
    check("py", InputMode::Browse, Some(HudAction::Order(order(DecisionVerb::Promote, 5))));
    check("jry", InputMode::Browse, Some(HudAction::Order(order(DecisionVerb::Reject, 4))));
    check("fY", InputMode::Browse, Some(HudAction::Order(order(DecisionVerb::Forget, 5))));
    check("fn", InputMode::Browse, None);
    check("f<esc>", InputMode::Browse, None);
    check("fq", InputMode::Browse, None);
    check("fj<enter>", InputMode::Confirm(order(DecisionVerb::Forget, 5)), None);
    check("f<ctrl-c>", InputMode::Confirm(order(DecisionVerb::Forget, 5)), Some(HudAction::Quit));
    check("3ay", InputMode::Browse, Some(HudAction::Order(order(DecisionVerb::Approve, 7))));
    check("3<enter>ry", InputMode::Browse, Some(HudAction::Order(order(DecisionVerb::Reject, 7))));
    check("ay", InputMode::Browse, None);
    check("3py", InputMode::Browse, None);
    check("2fy", InputMode::Browse, None);
    check("4fy", InputMode::Browse, None);
    check("q", InputMode::Browse, Some(HudAction::Quit));
    check("/q", InputMode::Search, None);
    check("/x<alt-q>", InputMode::Browse, Some(HudAction::Quit));
    check("f<alt-y>", InputMode::Browse, None);
    check("/<ctrl-c>", InputMode::Search, Some(HudAction::Quit));
    check("?q", InputMode::Browse, None);
}

#[test]
fn what_cannot_be_decided_is_told_and_forgotten_with_the_next_key() {
    let check = |keys: &str, note: Option<FooterNote>| {
        let mut model = model(100, 30);
        press(&mut model, keys);
        assert_eq!(model.note, note, "after {keys}");
    };
    check("a", Some(FooterNote::Bad("m-005 is not in quarantine; p promotes it".to_owned())));
    check("3p", Some(FooterNote::Bad("m-007 is in quarantine; a approves it".to_owned())));
    check("2f", Some(FooterNote::Bad("only lessons are decided about".to_owned())));
    check("fn", Some(FooterNote::Good("m-005 stays as it is".to_owned())));
    check("aj", None);
}

#[test]
fn what_is_pasted_is_never_taken_for_keys() {
    let mut model = model(100, 30);
    assert_eq!(model.update(HudUpdate::Pasted("fy".to_owned())), None);
    assert_eq!(model.mode, InputMode::Browse);
    press(&mut model, "/");
    model.update(HudUpdate::Pasted("rg\nover\u{1b}".to_owned()));
    assert_eq!((model.search.as_str(), selected(&model)), ("rg over", "m-003"));
}

#[test]
fn what_is_selected_stays_so_when_others_come_and_go() {
    let mut model = model(100, 30);
    press(&mut model, "jj");
    let mut more = known();
    let newer = MemoryRows::from_memory(vec![lesson(9, "Newer", MemoryState::Active)], Vec::new());
    more.lessons.splice(0..0, newer.lessons);
    model.update(HudUpdate::Looked(look(Some(more))));
    assert_eq!((selected(&model), model.cursor().at), ("m-003", 3));
    let mut less = known();
    less.lessons.retain(|row| row.name != "m-003");
    model.update(HudUpdate::Looked(look(Some(less))));
    assert_eq!(selected(&model), "m-001", "what stands in its place");
    model.update(HudUpdate::Looked(look(Some(MemoryRows::default()))));
    assert_eq!(selected(&model), "");
    press(&mut model, "<enter>jfy");
    assert_eq!((model.focus, &model.mode), (FocusedPane::List, &InputMode::Browse));
}

#[test]
fn what_comes_is_marked_until_it_is_looked_at() {
    let mut model = model(100, 30);
    assert!(model.fresh.is_empty(), "what was there before is not new");
    let mut more = known();
    let newer = MemoryRows::from_memory(vec![lesson(9, "Newer", MemoryState::Active)], Vec::new());
    more.lessons.splice(0..0, newer.lessons);
    model.update(HudUpdate::Looked(look(Some(more.clone()))));
    assert_eq!(model.fresh, BTreeSet::from([id(9).to_string()]));
    press(&mut model, "j");
    assert!(!model.fresh.is_empty(), "another was looked at");
    press(&mut model, "<home>j");
    assert!(model.fresh.is_empty());
    model.update(HudUpdate::Looked(look(Some(known()))));
    model.update(HudUpdate::Looked(look(Some(more))));
    model.update(HudUpdate::Looked(look(Some(known()))));
    assert!(model.fresh.is_empty(), "it is gone");
}

#[test]
fn one_question_at_a_time_and_again_when_something_was_written() {
    let mut model = model(100, 30);
    let answer = |number| HudUpdate::Answered { id: id(number), report: Err("gone".to_owned()) };
    assert_eq!(press(&mut model, "j"), Some(HudAction::Ask(id(4))));
    assert_eq!(press(&mut model, "j"), None, "one is under way");
    assert_eq!(press(&mut model, "j"), None);
    assert_eq!(model.update(answer(4)), Some(HudAction::Ask(id(2))), "those in between do not matter any more");
    assert_eq!(model.update(answer(2)), None);
    assert_eq!(model.update(HudUpdate::Looked(look(None))), None);
    assert_eq!(model.update(HudUpdate::Looked(look(Some(known())))), Some(HudAction::Ask(id(2))));
    assert_eq!(press(&mut model, "2"), None, "runs are known in full");
}

#[test]
fn a_look_that_finds_nothing_is_not_drawn() {
    let check = |look: HudRefresh, expected: bool| assert_eq!(model(100, 30).changes_display(&look), expected);
    check(look(None), false);
    check(look(Some(known())), true);
    check(HudRefresh { told: told(), ..look(None) }, true);
    check(HudRefresh { problem: Some("the disk is gone".to_owned()), ..look(None) }, true);
    check(HudRefresh { waiting: Some(Box::default()), ..look(None) }, true);
    check(HudRefresh { at: now() + chrono::TimeDelta::seconds(59), ..look(None) }, false);
    check(HudRefresh { at: now() + chrono::TimeDelta::seconds(60), ..look(None) }, true);
}

#[test]
fn only_the_last_of_the_feed_is_kept() {
    let mut model = model(100, 30);
    for _ in 0..300 {
        model.update(HudUpdate::Looked(HudRefresh { told: told(), ..look(None) }));
    }
    assert_eq!(model.feed.len(), KEPT);
    assert_eq!(model.feed.front(), told().last(), "the newest first");
}
