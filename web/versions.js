// The versions of a lesson, each beside the one before it.

import { restoreButton } from "./actions.js";
import { difference } from "./diff.js";
import { h } from "./dom.js";
import { ago, plain } from "./format.js";
import { facts } from "./rows.js";
import { cut, words } from "./text.js";

/** How many are shown before somebody asks for the rest. */
const SHOWN = 6;

const TEXTS = ["summary", "rule", "detail"];
const VALUES = ["state", "kind", "category", "scope", "importance", "severity", "tool", "provider", "component", "evergreen", "supersededBy"];

/** The section with all of them, the newest first. */
export function versions(lesson, history) {
  const all = history.map((one, at) => ({ ...one, before: history[at - 1]?.memory })).reverse();
  const current = all[0]?.version;
  const list = h("ol", { class: "versions" });
  const show = (ones) => list.append(...ones.map((one) => draw(lesson, one, one.version === current)));
  show(all.slice(0, SHOWN));
  const rest = all.slice(SHOWN);
  const more = rest.length > 0 && h("button", {
    type: "button",
    class: "quiet",
    on: {
      click() {
        show(rest);
        more.remove();
      },
    },
  }, `Show ${rest.length} older`);
  return h("section", null, h("h3", null, "Versions"), list, more || null);
}

function draw(lesson, { version, memory, before }, isCurrent) {
  return h("li", null,
    facts(
      h("span", { class: "name" }, `v${version}`),
      told(memory, before),
      h("span", { class: "end" }, ago(memory.updatedAt ?? memory.createdAt), isCurrent ? h("span", { class: "now" }, "counts now") : restoreButton(lesson, version))),
    before ? changes(memory, before) : null);
}

function told(memory, before) {
  if (!before) return "as it was first written";
  if (memory.restoredFrom) return `brings back version ${memory.restoredFrom}`;
  return memory.stateReason && memory.stateReason !== before.stateReason ? words(cut(memory.stateReason, 160)) : "changed";
}

function changes(memory, before) {
  const values = VALUES.filter((name) => (memory[name] ?? "") !== (before[name] ?? "")).map((name) =>
    h("p", { class: "change" }, `${plain(name)}: `,
      h("del", null, words(plain(before[name] ?? "none"))), " → ", h("ins", null, words(plain(memory[name] ?? "none")))));
  const texts = TEXTS.filter((name) => (memory[name] ?? "") !== (before[name] ?? "")).map((name) =>
    difference(cut(before[name] ?? "", 4000), cut(memory[name] ?? "", 4000)));
  return [values, texts];
}
