// What changed between two texts, word by word.

import { h } from "./dom.js";
import { visible } from "./text.js";

/** Beyond this many comparisons a text counts as replaced as a whole. */
const MOST = 4_000_000;

/** The parts of both texts in order: `[kind, text]`, the kind being "same", "gone" or "new". */
export function compare(before, after) {
  const [old, fresh] = [split(before), split(after)];
  let head = 0;
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < fresh.length - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
  const parts = [];
  push(parts, "same", old.slice(0, head));
  middle(parts, old.slice(head, old.length - tail), fresh.slice(head, fresh.length - tail));
  push(parts, "same", old.slice(old.length - tail));
  return calm(parts);
}

/** Between two changes a lone blank is part of the change; and of changes in a row, what went comes before what came. */
function calm(parts) {
  const calmed = [];
  let [gone, fresh] = ["", ""];
  const flush = () => {
    if (gone) calmed.push(["gone", gone]);
    if (fresh) calmed.push(["new", fresh]);
    [gone, fresh] = ["", ""];
  };
  parts.forEach(([kind, text], at) => {
    if (kind === "gone") gone += text;
    else if (kind === "new") fresh += text;
    else if ((gone || fresh) && at < parts.length - 1 && text.trim() === "") [gone, fresh] = [gone + text, fresh + text];
    else {
      flush();
      calmed.push([kind, text]);
    }
  });
  flush();
  return calmed;
}

function split(text) {
  return String(text ?? "").match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
}

function push(parts, kind, tokens) {
  if (tokens.length === 0) return;
  const last = parts.at(-1);
  if (last?.[0] === kind) last[1] += tokens.join("");
  else parts.push([kind, tokens.join("")]);
}

/** The longest common subsequence, by the table that every textbook has. */
function middle(parts, old, fresh) {
  if (old.length * fresh.length > MOST) {
    push(parts, "gone", old);
    push(parts, "new", fresh);
    return;
  }
  const width = fresh.length + 1;
  const table = new Uint32Array((old.length + 1) * width);
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = fresh.length - 1; column >= 0; column -= 1) {
      table[row * width + column] = old[row] === fresh[column]
        ? table[(row + 1) * width + column + 1] + 1
        : Math.max(table[(row + 1) * width + column], table[row * width + column + 1]);
    }
  }
  let [row, column] = [0, 0];
  while (row < old.length || column < fresh.length) {
    if (row < old.length && column < fresh.length && old[row] === fresh[column]) {
      push(parts, "same", [old[row]]);
      row += 1;
      column += 1;
    } else if (row < old.length && (column === fresh.length || table[(row + 1) * width + column] >= table[row * width + column + 1])) {
      push(parts, "gone", [old[row]]);
      row += 1;
    } else {
      push(parts, "new", [fresh[column]]);
      column += 1;
    }
  }
}

/** Both texts as one paragraph, with what went and what came marked. */
export function difference(before, after) {
  const element = { same: "span", gone: "del", new: "ins" };
  const parts = compare(before, after).map(([kind, text]) => h(element[kind], null, visible(text)));
  return h("p", { class: "diff", dir: "auto" }, parts);
}
