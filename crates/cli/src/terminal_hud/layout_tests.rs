use super::*;

fn panes(layout: &HudLayout) -> Vec<Rect> {
    let panes = [layout.list, layout.page, layout.feed].into_iter().flatten();
    panes.flat_map(|pane| [pane.title, pane.body]).chain([layout.tabs, layout.foot]).collect()
}

#[test]
fn whatever_the_size_nothing_overlaps_and_no_line_is_lost() {
    for (width, height) in (0..=200).flat_map(|width| (0..=60).map(move |height| (width, height))) {
        for focus in [FocusedPane::List, FocusedPane::Page] {
            let size = Size::new(width, height);
            let Some(layout) = HudLayout::for_size(size, focus) else {
                assert!(width < LEAST.width || height < LEAST.height, "{size}");
                continue;
            };
            let panes = panes(&layout);
            let screen = Rect { x: 0, y: 0, width, height };
            for (at, pane) in panes.iter().enumerate() {
                assert_eq!(pane.intersection(screen), *pane, "{size} {focus:?}");
                assert!(panes[..at].iter().all(|other| !other.intersects(*pane)), "{size} {focus:?}");
            }
            // Side by side there is a line between the two.
            let line = match (layout.list, layout.page) {
                (Some(list), Some(page)) if page.title.x > 0 => u32::from(list.body.height + 1),
                _ => 0,
            };
            assert_eq!(panes.iter().map(|pane| pane.area()).sum::<u32>() + line, screen.area(), "{size} {focus:?}");
            let looked_at = match focus {
                FocusedPane::List => layout.list,
                FocusedPane::Page => layout.page,
            };
            assert!(looked_at.unwrap().body.height >= 3, "{size} {focus:?}");
        }
    }
}

#[test]
fn a_small_screen_shows_one_thing_at_a_time() {
    let check = |width, height, focus, expected: (bool, bool, bool)| {
        let layout = HudLayout::for_size(Size::new(width, height), focus).unwrap();
        assert_eq!((layout.list.is_some(), layout.page.is_some(), layout.feed.is_some()), expected);
    };
    check(100, 30, FocusedPane::List, (true, true, true));
    check(80, 24, FocusedPane::List, (true, true, true));
    check(80, 16, FocusedPane::List, (true, false, true));
    check(40, 10, FocusedPane::List, (true, false, false));
    check(40, 10, FocusedPane::Page, (false, true, false));
    check(120, 10, FocusedPane::List, (true, true, false));
}
