//! Computes where things are on a screen of a given size. It is pure, so that keys and drawing agree on what is
//! visible.

use ratatui::layout::{Rect, Size};

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;

/// The smallest screen on which the display is drawn.
pub(super) const LEAST: Size = Size::new(28, 6);

/// The width from which the list and the page are side by side.
const WIDE: u16 = 100;
/// The height from which the list is above the page.
const TALL: u16 = 19;

/// The height from which the feed is shown.
const FEED_FROM: u16 = 14;
const FEED_LINES: (u16, u16) = (2, 8);
/// The number of screen lines per line of the feed.
const FEED_SHARE: u16 = 6;

/// The widest list that is easy to read.
const WIDEST_LIST: u16 = 72;
/// The lines of the list that stay visible above a page that is being read.
const LIST_OVER_PAGE: u16 = 3;

/// The part of the screen that receives the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FocusedPane {
    List,
    Page,
}

/// The areas of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HudLayout {
    pub(super) tabs: Rect,
    pub(super) list: Option<HudPane>,
    pub(super) page: Option<HudPane>,
    pub(super) feed: Option<HudPane>,
    pub(super) foot: Rect,
}

/// A title and the area below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HudPane {
    pub(super) title: Rect,
    pub(super) body: Rect,
}

impl HudPane {
    /// Splits an area into a title line and a body.
    fn from_area(area: Rect) -> Self {
        let height = area.height.min(1);
        let body = Rect { y: area.y + height, height: area.height - height, ..area };
        Self { title: Rect { height, ..area }, body }
    }
}

impl HudLayout {
    /// Returns the layout of a screen of this size, or `None` if it is too small.
    pub(super) fn for_size(size: Size, focus: FocusedPane) -> Option<Self> {
        let Size { width, height } = size;
        if width < LEAST.width || height < LEAST.height {
            return None;
        }
        let (least, most) = FEED_LINES;
        // The number includes the title line.
        let feed = if height < FEED_FROM { 0 } else { (height / FEED_SHARE).clamp(least, most) + 1 };
        let row = |y: u16, height: u16| Rect { x: 0, y, width, height };
        let room = row(1, height - 2 - feed);
        let (list, page) = split_list_and_page(room, height, focus);
        Some(Self {
            tabs: row(0, 1),
            list: list.map(HudPane::from_area),
            page: page.map(HudPane::from_area),
            feed: (feed > 0).then(|| HudPane::from_area(row(1 + room.height, feed))),
            foot: row(height - 1, 1),
        })
    }
}

/// Splits the room into list and page: side by side, one above the other, or only the focused one.
fn split_list_and_page(room: Rect, height: u16, focus: FocusedPane) -> (Option<Rect>, Option<Rect>) {
    if room.width >= WIDE {
        let list = (room.width / 5 * 2).min(WIDEST_LIST);
        // One column between them holds the dividing line.
        let page = Rect { x: list + 1, width: room.width - list - 1, ..room };
        return (Some(Rect { width: list, ..room }), Some(page));
    }
    if height < TALL {
        return match focus {
            FocusedPane::List => (Some(room), None),
            FocusedPane::Page => (None, Some(room)),
        };
    }
    let list = match focus {
        FocusedPane::List => room.height / 2,
        FocusedPane::Page => LIST_OVER_PAGE + 1,
    };
    (Some(Rect { height: list, ..room }), Some(Rect { y: room.y + list, height: room.height - list, ..room }))
}
