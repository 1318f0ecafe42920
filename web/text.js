// Text of others as it is shown: set apart from ours, with nothing hidden in it and never longer than can be read.

import { h } from "./dom.js";
import { number } from "./format.js";

/** How much of a long text is shown before somebody asks for more, in characters. */
const SHOWN = 1200;

// Controls, marks that turn the direction of writing round, and letters without a shape: what could make a text look
// like another one. Joiners stay, because scripts and emoji need them.
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]+/gu;

// No script piles so many marks on a letter; whoever does wants to write over what stands above and below.
const PILED = /(\p{M}{6})\p{M}+/gu;

/** The text with whatever hides in it spelled out. */
export function visible(text) {
  const plain = String(text ?? "").replace(/\r\n?/g, "\n").replace(PILED, "$1‹more marks›");
  return plain.replace(HIDDEN, (run) => {
    const letters = [...run];
    if (letters.length > 1) return `‹${letters.length} hidden characters›`;
    return `‹U+${letters[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}›`;
  });
}

/** A short text of others within a line of ours. */
export function words(text, props) {
  return h("bdi", props, visible(text));
}

/** The name of a session or a run; the long ones that machines make are told by their beginning. */
export function nameSign(name) {
  const isMade = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}$/i.test(name);
  return words(isMade ? `${name.slice(0, 8)}…` : cut(name, 60), { class: "name", title: cut(visible(name), 200) });
}

/** The text with its `code` set as code; nothing else in it means anything. */
export function prose(text) {
  const parts = visible(text).split(/`([^`\n]{1,400})`/);
  return parts.map((part, at) => (at % 2 === 1 ? h("code", null, part) : part));
}

/** At most so many characters, without cutting one in two. */
export function cut(text, limit) {
  const whole = String(text ?? "");
  if (whole.length <= limit) return whole;
  return `${whole.slice(0, limit).replace(/[\ud800-\udbff]$/, "").trimEnd()}…`;
}

/** A paragraph of others. What is too long to read is cut, and all of it is a button away. */
export function paragraph(text, props, { limit = SHOWN, set = prose, element = "p" } = {}) {
  const whole = String(text ?? "");
  const body = h(element, { dir: "auto", ...props }, set(cut(whole, limit)));
  if (whole.length <= limit) return body;
  const more = h("button", {
    type: "button",
    class: "quiet",
    on: {
      click() {
        body.replaceChildren(...[set(whole)].flat());
        more.remove();
      },
    },
  }, `Show all ${number(whole.length)} characters`);
  return h("div", { class: "clipped" }, body, more);
}

/** A rule, with its condition told from its advice. */
export function rule(text, props, limit = SHOWN) {
  const set = (shown) => {
    const parts = /^\s*IF\s+([\s\S]+?)\s+THEN\s+([\s\S]+)$/.exec(shown);
    if (!parts) return prose(shown);
    return [h("b", { class: "keyword" }, "If"), " ", prose(parts[1]), " ", h("b", { class: "keyword" }, "then"), " ", prose(parts[2])];
  };
  return paragraph(text, props, { limit, set });
}

/** A text with one part of it marked; the same text unmarked if the part is not in it. */
export function marked(text, part) {
  const [whole, wanted] = [visible(text), visible(part)];
  const at = wanted ? whole.indexOf(wanted) : -1;
  if (at >= 0) return [whole.slice(0, at), h("mark", null, wanted), whole.slice(at + wanted.length)];
  // A quote may differ from its log in blanks, so they are let stand for one another.
  const pattern = wanted.trim().split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("\\s+");
  const found = pattern && wanted.length < 5000 ? new RegExp(pattern).exec(whole) : null;
  if (!found) return [whole];
  const end = found.index + found[0].length;
  return [whole.slice(0, found.index), h("mark", null, found[0]), whole.slice(end)];
}
