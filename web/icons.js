// The signs of the views, drawn with a few strokes each.

import { s } from "./dom.js";

const STROKES = {
  lessons: ["M8 1.8a4.4 4.4 0 0 0-2.4 8.1v1.6h4.8V9.9A4.4 4.4 0 0 0 8 1.8Z", "M6.2 14h3.6"],
  sessions: ["M3.5 2v12", "M7 4h6.5", "M7 8h6.5", "M7 12h4.5", "M2.6 4h1.8", "M2.6 8h1.8", "M2.6 12h1.8"],
  memory: ["M7 11.8a4.8 4.8 0 1 0 0-9.6 4.8 4.8 0 0 0 0 9.6Z", "m10.6 10.6 3.6 3.6"],
  quarantine: ["M8 1.8 13.2 4v4c0 3-2.2 5.2-5.2 6.2C5 13.2 2.8 11 2.8 8V4Z", "M8 5.2v3.2", "M8 10.6v.2"],
  queue: ["M2.2 3.6h11.6", "M2.2 8h11.6", "M2.2 12.4h6.6"],
  map: ["M2.2 2.2h5v5h-5Z", "M9.6 2.2h4.2v5H9.6Z", "M2.2 9.6h5v4.2h-5Z", "M9.6 9.6h4.2v4.2H9.6Z"],
};

/** The sign of a view; its name stands beside it, so nobody needs to hear of it. */
export function icon(name) {
  return s("svg", { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" },
    STROKES[name].map((d) => s("path", { d })));
}
