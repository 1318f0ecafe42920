// The keyboard: single letters that move, open and switch, wherever nobody is typing.

import { showKeys } from "./dialog.js";
import { current, go } from "./route.js";

/** How long `g` waits for its letter. Milliseconds. */
const PATIENCE = 1500;

export function startKeys(views, { closeLesson }) {
  const shown = [
    [["j"], "the next lesson or session"],
    [["k"], "the one before"],
    [["Enter"], "open it"],
    [["Esc"], "close it, or leave the search"],
    [["/"], "search"],
    ...views.map((view) => [["g", view.key], view.title]),
    [["?"], "these keys"],
  ];
  let waits = 0;
  const actions = {
    j: () => move(1),
    k: () => move(-1),
    g: () => {
      waits = Date.now();
    },
    "/": search,
    "?": () => showKeys(shown),
    Escape: closeLesson,
  };

  document.getElementById("keys").addEventListener("click", () => showKeys(shown));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.closest?.("input, select, textarea")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const view = Date.now() - waits < PATIENCE ? views.find((one) => one.key === event.key) : null;
    waits = 0;
    const act = view ? () => go(view.name, {}) : actions[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}

function move(by) {
  if (document.getElementById("main").inert) return;
  const rows = [...document.querySelectorAll("#view [data-row]")];
  const at = rows.indexOf(document.activeElement);
  const next = rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

function search() {
  if (current().name !== "memory") go("memory", {});
  // The view is there once the address has been followed.
  setTimeout(() => document.getElementById("search")?.select());
}
