// A lesson as a row of a list, and the small signs that stand beside lessons everywhere.

import { h, stampOf } from "./dom.js";
import { ago, count, ENDINGS, plain, STATES } from "./format.js";
import { here } from "./route.js";
import { cut, prose, rule, words } from "./text.js";

/** A row shows no more of a text than this. */
const ROW = 320;

export const nameOf = (lesson) => lesson.alias ?? lesson.id;

/** The state as a sign with its word; what it means is its title. */
export function stateSign(state) {
  const word = state ?? "undecided";
  const known = word in STATES ? word : "other";
  return h("span", { class: `state state-${known}`, title: STATES[word] ?? "" }, words(plain(word)));
}

/** How much a lesson matters, as a bar and a number. */
export function importanceSign(importance) {
  const value = Math.min(1, Math.max(0, Number(importance) || 0));
  return h("span", { class: "importance", title: "How much it matters, from 0 to 1" },
    h("span", { class: "unseen" }, "importance "),
    h("span", { class: "bar", style: { "--share": `${value * 100}%` } }),
    value.toFixed(2));
}

/** The small print of something: words that stand apart from one another. */
export function facts(...items) {
  const apart = (item) => (typeof item === "string" || typeof item === "number" ? h("span", null, item) : item);
  return h("div", { class: "facts" }, items.flat(Infinity).map(apart));
}

/** How a session ended, as a sign with its word. */
export function endingSign(status) {
  if (!status) return null;
  return h("span", { class: `ending ending-${status in ENDINGS ? status : "other"}` }, words(ENDINGS[status] ?? plain(status)));
}

/** The circumstances that a lesson is bound to. */
export function circumstances(lesson) {
  const names = ["tool", "provider", "component", "role", "domain", "phase", "taskId"];
  return names.filter((name) => lesson[name]).map((name) => ({ name: name.replace("Id", ""), value: lesson[name] }));
}

/** One lesson. `isFresh` lights it up for a moment, `note` says more about it, `isTimed` when it was learned. */
export function lessonRow(lesson, { isFresh = false, note = null, isTimed = true } = {}) {
  const name = nameOf(lesson);
  const link = h("a", {
    class: "open",
    href: here({ open: name }),
    dir: "auto",
    data: { row: "", focus: `lesson:${name}` },
  }, prose(cut(lesson.summary, ROW)));
  const seen = lesson.counters?.sightings ?? 0;
  const used = lesson.usageCount ?? 0;
  const told = [
    words(name, { class: "name" }),
    stateSign(lesson.state),
    words(plain(lesson.category)),
    circumstances(lesson).slice(0, 3).map(({ name: facet, value }) =>
      h("span", { class: "facet", title: facet }, words(cut(value, 40)))),
    seen > 1 ? `seen in ${count(seen, "session", "sessions")}` : null,
    used > 0 ? `used ${count(used, "time", "times")}` : null,
    note,
  ];
  return h("li", { class: isFresh ? "lesson fresh" : "lesson" },
    link,
    lesson.rule ? rule(cut(lesson.rule, ROW), { class: "rule" }) : null,
    facts(told, h("span", { class: "end" }, importanceSign(lesson.importance), isTimed ? ago(lesson.createdAt) : null)));
}

/** An entry of a list that is kept up to date. */
export function lessonEntry(lesson) {
  return {
    key: `lesson:${lesson.id}`,
    stamp: stampOf([lesson, here({ open: "" })]),
    make: () => lessonRow(lesson),
  };
}

/** What stands where nothing is yet: what that means, and what to type next. */
export function emptiness(title, text, commands = []) {
  const lines = commands.map(([command, does]) => h("div", null, h("dt", null, h("code", null, command)), h("dd", null, does)));
  return h("div", { class: "empty" }, h("h2", null, title), h("p", null, text), lines.length > 0 ? h("dl", null, lines) : null);
}
