// The memory: every lesson, found by words and by circumstances.

import { api } from "../api.js";
import { fill, h, refill } from "../dom.js";
import { count, number, plain } from "../format.js";
import { current, go } from "../route.js";
import { emptiness, lessonEntry } from "../rows.js";
import { visible } from "../text.js";

const PAGE = 50;
/** How long typing may pause before the search runs. Milliseconds. */
const PAUSE = 180;

const WHICH = [["live", "In use"], ["given", "Given to agents"], ["all", "All, retired too"]];
const SCOPES = ["global", "project", "repo", "task", "tool", "provider", "component", "role", "domain"];

/** The filters: their parameter, their label, and where the words come from that can be chosen. */
const FILTERS = [
  ["state", "State", (stats) => entries(stats.lessons?.byState)],
  ["kind", "Kind", (stats) => entries(stats.lessons?.byKind)],
  ["category", "Category", (stats) => entries(stats.lessons?.byCategory)],
  ["scope", "Scope", () => SCOPES.map((name) => [name, null])],
  ["tool", "Tool", (stats) => (stats.tools ?? []).map(({ name, lessons }) => [name, lessons])],
  ["provider", "Provider", (stats) => (stats.providers ?? []).map(({ name, lessons }) => [name, lessons])],
];

const entries = (counts) => Object.entries(counts ?? {}).sort((a, b) => b[1] - a[1]);

export const memory = {
  name: "memory",
  title: "Memory",
  short: "Memory",
  key: "m",
  open(page) {
    let params = page.params;
    let limit = PAGE;
    let typing = null;
    const set = (more) => go("memory", { ...current().params, ...more }, { quietly: true });
    const input = h("input", {
      id: "search",
      type: "search",
      autocomplete: "off",
      spellcheck: "false",
      placeholder: "Words of a lesson, or its name",
      "aria-keyshortcuts": "/",
      on: {
        input() {
          clearTimeout(typing);
          typing = setTimeout(() => set({ text: input.value.trim() }), PAUSE);
        },
      },
    });
    const selects = new Map();
    const field = (name, label) => {
      const select = h("select", { id: `filter-${name}`, on: { change: () => set({ [name]: select.value }) } });
      selects.set(name, select);
      return h("div", { class: "field" }, h("label", { for: `filter-${name}` }, label), select);
    };
    const tag = h("input", { id: "filter-tag", type: "text", autocomplete: "off", on: { change: () => set({ tag: tag.value.trim() }) } });
    const form = h("form", { class: "filters", role: "search", on: { submit: (event) => event.preventDefault() } },
      h("div", { class: "field wide" }, h("label", { for: "search" }, "Search"), input),
      field("which", "Which"),
      FILTERS.map(([name, label]) => field(name, label)),
      h("div", { class: "field" }, h("label", { for: "filter-tag" }, "Tag"), tag));
    const told = h("p", { class: "told-count", role: "status" });
    const list = h("ul", { class: "list" });
    const none = h("div");
    const more = h("div", { class: "more" });
    page.root.append(form, told, list, none, more);

    function options(select, chosen, choices) {
      const all = choices.some(([value]) => value === chosen) || !chosen ? choices : [...choices, [chosen, null]];
      const made = all.map(([value, label]) => h("option", { value }, label ?? visible(value)));
      fill(select, made);
      select.value = chosen;
      select.parentElement.classList.toggle("is-set", chosen !== choices[0][0]);
    }

    function drawFilters(stats) {
      // Whoever has a list open does not want it changed under the pointer.
      if (form.contains(document.activeElement) && document.activeElement.tagName === "SELECT") return;
      options(selects.get("which"), params.which ?? "live", WHICH);
      for (const [name, , choices] of FILTERS) {
        const known = choices(stats).map(([value, many]) => [value, many ? `${visible(plain(value))} (${number(many)})` : visible(plain(value))]);
        options(selects.get(name), params[name] ?? "", [["", "any"], ...known]);
      }
      if (document.activeElement !== input) input.value = params.text ?? "";
      if (document.activeElement !== tag) tag.value = params.tag ?? "";
      tag.parentElement.classList.toggle("is-set", Boolean(params.tag));
    }

    async function refresh() {
      const { open: _, ...wanted } = params;
      // What is out of use is found by naming its state, without having to say so twice.
      const which = wanted.which ?? (wanted.state ? "all" : "live");
      const [stats, found] = await Promise.all([api.stats(), api.lessons({ ...wanted, which, limit: limit + 1 })]);
      drawFilters(stats);
      const isFiltered = Object.keys(wanted).length > 0;
      const shown = found.slice(0, limit);
      told.textContent = found.length > limit ? `The first ${number(limit)} lessons` : count(shown.length, "lesson", "lessons");
      refill(list, shown.map((lesson) => lessonEntry(lesson)));
      fill(none, shown.length === 0 && (isFiltered
        ? emptiness("No lesson fits", "Fewer words or fewer filters find more.")
        : emptiness("The memory is empty", "Lessons come from sessions, or from you:", [
          ["archivist add \"Prefer rg over grep\"", "writes one by hand"],
          ["archivist batch --days 30", "learns from the sessions of the last month"],
        ])), shown.length === 0 && isFiltered && h("button", { type: "button", class: "plain", on: { click: () => go("memory", {}) } }, "Clear the filters"));
      fill(more, found.length > limit && h("button", {
        type: "button",
        class: "plain",
        on: {
          click() {
            limit += PAGE;
            page.refresh();
          },
        },
      }, "Show more"));
    }

    return {
      refresh,
      update(now) {
        const { open: _, ...wanted } = now;
        const { open: __, ...was } = params;
        params = now;
        if (JSON.stringify(wanted) !== JSON.stringify(was)) page.refresh();
      },
    };
  },
};
