// Quarantine: lessons that rest on strangers' words alone wait here for a person.

import { buttons } from "../actions.js";
import { api } from "../api.js";
import { fill, h, refill, stampOf } from "../dom.js";
import { ago, count, plain } from "../format.js";
import { quote } from "../quotes.js";
import { here } from "../route.js";
import { emptiness, facts, importanceSign, nameOf } from "../rows.js";
import { cut, prose, rule, words } from "../text.js";

/** How many quotes are shown; the lesson itself has all of them. */
const QUOTES = 3;

export const quarantine = {
  name: "quarantine",
  title: "Quarantine",
  short: "Quarantine",
  key: "q",
  open(page) {
    const told = h("p", { class: "told-count", role: "status" });
    const list = h("ul", { class: "cards" });
    const none = h("div");
    page.root.append(told, list, none);

    async function refresh() {
      const held = await api.lessons({ which: "all", state: "quarantined", limit: 200 });
      told.textContent = held.length > 0
        ? `${count(held.length, "lesson is", "lessons are")} held back: no agent gets to see what is not approved.`
        : "";
      refill(list, held.map((lesson) => ({
        key: lesson.id,
        stamp: stampOf(lesson),
        make: () => draw(lesson),
      })));
      fill(none, held.length === 0 && emptiness("Nothing is held back",
        "A lesson comes here when everything it quotes was written by a tool, a page, another agent or somebody unknown."));
    }
    return { refresh };
  },
};

function draw(lesson) {
  const quotes = lesson.evidence?.quotes ?? [];
  const name = nameOf(lesson);
  return h("li", { class: "card" },
    h("p", { class: "why" }, "Held because ", prose(lesson.stateReason ?? "of a reason that was not kept"), "."),
    h("a", { class: "open", href: here({ open: name }), dir: "auto", data: { row: "", focus: `lesson:${name}` } },
      prose(cut(lesson.summary, 400))),
    lesson.rule ? rule(lesson.rule, { class: "rule" }, 400) : null,
    quotes.slice(0, QUOTES).map((one) => quote(one)),
    facts(words(name, { class: "name" }), words(plain(lesson.category)),
      h("span", { class: "end" }, importanceSign(lesson.importance), ago(lesson.createdAt))),
    h("div", { class: "buttons" }, buttons(lesson, ["approve", "reject"])));
}
