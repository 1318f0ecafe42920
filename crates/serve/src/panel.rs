//! The panel: one page and its assets, compiled into the program. No file of the machine is ever served.

use axum::Router;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::problem_response::HttpProblem;

#[cfg(test)]
#[path = "panel_tests.rs"]
mod tests;

/// The content security policy: a page may run our scripts and send requests to this server, and nothing else.
pub(super) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page itself.
const PAGE: &str = include_str!("../../../web/index.html");

macro_rules! assets {
    ($($path:literal),+ $(,)?) => {
        /// The assets of the page by name.
        const ASSETS: &[(&str, &str)] = &[$(($path, include_str!(concat!("../../../web/", $path)))),+];
    };
}

assets!(
    "panel.css",
    "theme.js",
    "main.js",
    "actions.js",
    "api.js",
    "chart.js",
    "dialog.js",
    "diff.js",
    "dom.js",
    "events.js",
    "format.js",
    "icons.js",
    "keys.js",
    "quotes.js",
    "reflections.js",
    "route.js",
    "rows.js",
    "text.js",
    "versions.js",
    "views/lesson.js",
    "views/lessons.js",
    "views/map.js",
    "views/memory.js",
    "views/quarantine.js",
    "views/queue.js",
    "views/sessions.js",
);

pub(super) fn panel_router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new().route("/", get(serve_page)).route("/panel/{*path}", get(serve_asset))
}

async fn serve_page() -> Response {
    static_response("text/html; charset=utf-8", PAGE)
}

async fn serve_asset(Path(path): Path<String>) -> Response {
    match ASSETS.iter().find(|(name, _)| *name == path) {
        Some((name, text)) if name.ends_with(".css") => static_response("text/css; charset=utf-8", text),
        Some((_, text)) => static_response("text/javascript; charset=utf-8", text),
        None => HttpProblem::new(StatusCode::NOT_FOUND, "the panel has no such part").into_response(),
    }
}

fn static_response(kind: &'static str, text: &'static str) -> Response {
    // A new version of the program may have a new page.
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")], text).into_response()
}
