// Two plots. They are laid out in percent of whatever width there is, so that their letters keep their size.

import { h, s } from "./dom.js";
import { compact, money, percent } from "./format.js";

const text = (x, y, anchor, ...words) => s("text", { x, y, "text-anchor": anchor }, ...words);

/** A difference with its interval, from −100 % to +100 %, with a line at zero. Left of it the lesson helps. */
export function interval({ difference, low, high, verdict }) {
  const at = (share) => `${50 + Math.min(1, Math.max(-1, share)) * 46}%`;
  const width = `${Math.max(0.5, (Math.min(1, high) - Math.max(-1, low)) * 46)}%`;
  const label = `The difference is ${percent(difference, true)}, with 95 % certainty between ${percent(low, true)} and ${percent(high, true)}.`;
  const ticks = [-1, -0.5, 0, 0.5, 1];
  return s("svg", { class: `plot interval is-${verdict}`, width: "100%", height: "84", role: "img", "aria-label": label },
    text("4%", 12, "start", "← helps"),
    text("96%", 12, "end", "harms →"),
    s("line", { class: "axis", x1: "4%", x2: "96%", y1: 60, y2: 60 }),
    ticks.map((tick) => [
      s("line", { class: tick === 0 ? "zero" : "tick", x1: at(tick), x2: at(tick), y1: tick === 0 ? 18 : 56, y2: 64 }),
      text(at(tick), 79, tick === -1 ? "start" : tick === 1 ? "end" : "middle", percent(tick, true)),
    ]),
    s("rect", { class: "range", x: at(low), y: 33, width, height: 8, rx: 4 }),
    s("circle", { class: "point", cx: at(difference), cy: 37, r: 6 }));
}

/** One bar a day, and a line where a cap is. `field` is "usd" or "tokens". */
export function bars(days, field, cap) {
  const told = field === "usd" ? money : compact;
  const most = Math.max(cap ?? 0, ...days.map((day) => day[field] ?? 0));
  const [height, floor, roof] = [180, 152, 22];
  const y = (value) => (most > 0 ? floor - (value / most) * (floor - roof) : floor);
  const step = 100 / Math.max(1, days.length);
  const sum = days.reduce((total, day) => total + (day[field] ?? 0), 0);
  const label = `${told(sum)} in ${days.length} days${cap ? `, with a cap of ${told(cap)} a day` : ""}; the table below has each day.`;
  const isOver = (day) => cap && (day[field] ?? 0) >= cap;
  const marks = days.map((day, at) => {
    const value = day[field] ?? 0;
    return s("rect", {
      class: value === 0 ? "bar none" : isOver(day) ? "bar over" : "bar",
      x: `${at * step + step * 0.14}%`,
      width: `${step * 0.72}%`,
      y: value > 0 ? Math.min(y(value), floor - 2) : floor - 1,
      height: value > 0 ? Math.max(2, floor - y(value)) : 1,
      rx: 1.5,
    }, s("title", null, `${day.date}: ${told(value)}`));
  });
  const dates = days.length > 0 ? [text("0%", height - 8, "start", days[0].date), text("100%", height - 8, "end", days.at(-1).date)] : [];
  const limit = cap ? [
    s("line", { class: "cap", x1: "0%", x2: "100%", y1: y(cap), y2: y(cap) }),
    text("100%", y(cap) - 6, "end", `cap ${told(cap)} a day`),
  ] : [];
  const top = most > 0 && !cap ? [
    s("line", { class: "tick", x1: "0%", x2: "100%", y1: roof, y2: roof }),
    text("100%", roof - 6, "end", told(most)),
  ] : [];
  return s("svg", { class: "plot bars", width: "100%", height, role: "img", "aria-label": label },
    s("line", { class: "axis", x1: "0%", x2: "100%", y1: floor, y2: floor }), top, marks, limit, dates);
}

/** The same days as a table, for whoever cannot or will not read a plot. */
export function dayTable(days) {
  const spent = days.filter((day) => (day.calls ?? 0) > 0).reverse();
  return h("details", { class: "as-table" },
    h("summary", null, "As a table"),
    h("table", null,
      h("thead", null, h("tr", null, ["Day", "Calls", "Tokens", "Cost"].map((name, at) =>
        h("th", { scope: "col", class: at > 0 ? "figure" : null }, name)))),
      h("tbody", null, spent.map((day) => h("tr", null,
        h("th", { scope: "row" }, day.date),
        [day.calls, compact(day.tokens), money(day.usd)].map((value) => h("td", { class: "figure" }, value)))))));
}
