// Map: which tools and which providers the lessons are about.

import { api } from "../api.js";
import { fill, h } from "../dom.js";
import { count, number } from "../format.js";
import { href } from "../route.js";
import { emptiness } from "../rows.js";
import { cut, visible, words } from "../text.js";

/** A longer name of a tool or a provider is cut. */
const NAME = 28;

export const map = {
  name: "map",
  title: "Tools and providers",
  short: "Map",
  key: "p",
  open(page) {
    const body = h("div");
    page.root.append(body);
    return {
      async refresh() {
        const { tools = [], providers = [], pairs = [], lessons } = await api.stats();
        if (tools.length + providers.length === 0) {
          fill(body, emptiness("No lesson names a tool or a provider", "Lessons that hold only for one of them stand here.", [
            ["archivist add \"…\" --tool bash --provider claude-code", "writes one that does"],
          ]));
          return;
        }
        fill(body,
          h("p", { class: "told-count" }, `${number(lessons?.total ?? 0)} lessons in all. A number leads to its lessons; the stronger its colour, the more there are.`),
          matrix(tools, providers, pairs));
      },
    };
  },
};

const byMost = (a, b) => b.lessons - a.lessons || a.name.localeCompare(b.name);

function matrix(tools, providers, pairs) {
  const most = Math.max(1, ...pairs.map(({ lessons }) => lessons));
  const many = new Map(pairs.map(({ tool, provider, lessons }) => [JSON.stringify([tool, provider]), lessons]));
  const [rows, columns] = [[...tools].sort(byMost), [...providers].sort(byMost)];
  const head = h("tr", null,
    h("td", { class: "corner" }),
    columns.map(({ name }) => h("th", { scope: "col" }, words(cut(name, NAME)))),
    h("th", { scope: "col", class: "sum" }, "any provider"));
  const line = ({ name: tool, lessons }) => h("tr", null,
    h("th", { scope: "row" }, words(cut(tool, NAME))),
    columns.map(({ name: provider }) => field(many.get(JSON.stringify([tool, provider])) ?? 0, most, { tool, provider })),
    field(lessons, 0, { tool }));
  const last = h("tr", { class: "sums" },
    h("th", { scope: "row", class: "sum" }, "any tool"),
    columns.map(({ name: provider, lessons }) => field(lessons, 0, { provider })),
    h("td"));
  return h("div", { class: "matrix", role: "region", "aria-label": "Lessons by tool and provider", tabindex: "0" },
    h("table", null, h("thead", null, head), h("tbody", null, rows.map(line), columns.length > 0 ? last : null)));
}

function field(lessons, most, filter) {
  if (!lessons) return h("td", { class: "none" }, h("span", { "aria-hidden": "true" }, "·"));
  const about = Object.values(filter).join(" with ");
  const share = most > 0 ? 0.08 + 0.3 * (lessons / most) : 0;
  return h("td", { class: most > 0 ? "some" : "sum", style: { "--share": share.toFixed(3) } },
    h("a", { href: href("memory", filter), "aria-label": `${count(lessons, "lesson", "lessons")}: ${cut(visible(about), 200)}`, data: { row: "" } }, number(lessons)));
}
