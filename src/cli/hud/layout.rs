//! Where things stand on a screen of a given size. Pure arithmetic, so that keys and drawing agree on what is seen.

use ratatui::layout::{Rect, Size};

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;

/// On a smaller screen nothing could be read.
pub(super) const LEAST: Size = Size::new(28, 6);

/// From here on the list and the page stand side by side.
const WIDE: u16 = 100;
/// And from here on one above the other.
const TALL: u16 = 19;

/// A lower screen has no room for the feed.
const FEED_FROM: u16 = 14;
const FEED_LINES: (u16, u16) = (2, 8);
/// One line of the feed for so many of the screen.
const FEED_SHARE: u16 = 6;

/// A wider list only moves its ends apart.
const WIDEST_LIST: u16 = 72;
/// So much of the list stays in sight over a page that is being read.
const LIST_OVER_PAGE: u16 = 3;

/// Which part the keys go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Focus {
    List,
    Page,
}

/// Where things stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) tabs: Rect,
    pub(super) list: Option<Pane>,
    pub(super) page: Option<Pane>,
    pub(super) feed: Option<Pane>,
    pub(super) foot: Rect,
}

/// A title and what stands under it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pane {
    pub(super) title: Rect,
    pub(super) body: Rect,
}

impl Pane {
    /// The first line is the title's.
    fn of(area: Rect) -> Self {
        let height = area.height.min(1);
        let body = Rect { y: area.y + height, height: area.height - height, ..area };
        Self { title: Rect { height, ..area }, body }
    }
}

impl Layout {
    /// Of a screen of this size; `None` where it is too small.
    pub(super) fn of(size: Size, focus: Focus) -> Option<Self> {
        let Size { width, height } = size;
        if width < LEAST.width || height < LEAST.height {
            return None;
        }
        let (least, most) = FEED_LINES;
        // With its title.
        let feed = if height < FEED_FROM { 0 } else { (height / FEED_SHARE).clamp(least, most) + 1 };
        let row = |y: u16, height: u16| Rect { x: 0, y, width, height };
        let room = row(1, height - 2 - feed);
        let (list, page) = halves(room, height, focus);
        Some(Self {
            tabs: row(0, 1),
            list: list.map(Pane::of),
            page: page.map(Pane::of),
            feed: (feed > 0).then(|| Pane::of(row(1 + room.height, feed))),
            foot: row(height - 1, 1),
        })
    }
}

/// The list and the page: side by side, one above the other, or only the one that is looked at.
fn halves(room: Rect, height: u16, focus: Focus) -> (Option<Rect>, Option<Rect>) {
    if room.width >= WIDE {
        let list = (room.width / 5 * 2).min(WIDEST_LIST);
        // Between them is a line.
        let page = Rect { x: list + 1, width: room.width - list - 1, ..room };
        return (Some(Rect { width: list, ..room }), Some(page));
    }
    if height < TALL {
        return match focus {
            Focus::List => (Some(room), None),
            Focus::Page => (None, Some(room)),
        };
    }
    let list = match focus {
        Focus::List => room.height / 2,
        Focus::Page => LIST_OVER_PAGE + 1,
    };
    (Some(Rect { height: list, ..room }), Some(Rect { y: room.y + list, height: room.height - list, ..room }))
}
