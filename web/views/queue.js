// Queue and spend: what waits to be reflected on, what went wrong with it, and what models cost.

import { api } from "../api.js";
import { bars, dayTable } from "../chart.js";
import { fill, h } from "../dom.js";
import { ago, compact, count, money, plain, span } from "../format.js";
import { emptiness, facts } from "../rows.js";
import { cut, nameSign, prose, words } from "../text.js";

const DAYS = 30;

const PLACES = {
  new: "Waiting",
  claimed: "Being worked on",
  dead: "Put aside",
  done: "Done",
};
const ORDER = ["dead", "claimed", "new", "done"];
/** How many done jobs are listed; they are of little interest. */
const DONE = 10;

export const queue = {
  name: "queue",
  title: "Queue and spend",
  short: "Queue",
  key: "u",
  open(page) {
    let field = "usd";
    const jobs = h("section", { "aria-labelledby": "jobs-title" });
    const spend = h("section", { "aria-labelledby": "spend-title" });
    page.root.append(jobs, spend);

    async function refresh() {
      const [told, spent] = await Promise.all([api.jobs(), api.spend(DAYS)]);
      drawJobs(jobs, told);
      drawSpend(spent);
    }

    function drawSpend({ days = [], caps = {} }) {
      const cap = field === "usd" ? caps.dayUsd : caps.dayTokens;
      const sum = (name) => days.reduce((total, day) => total + (day[name] ?? 0), 0);
      const choose = (name, label) => h("button", {
        type: "button",
        class: "choice",
        "aria-pressed": String(field === name),
        on: {
          click() {
            field = name;
            drawSpend({ days, caps });
            spend.querySelector("[aria-pressed=true]").focus();
          },
        },
      }, label);
      fill(spend,
        h("div", { class: "heading" }, h("h2", { id: "spend-title" }, "Spend"),
          h("span", { class: "choices", role: "group", "aria-label": "What is plotted" }, choose("usd", "Cost"), choose("tokens", "Tokens"))),
        sum("calls") === 0
          ? emptiness("Nothing was spent", `No model was asked in the last ${DAYS} days. Without a model, lessons are found by rules, and that costs nothing.`)
          : [
            h("p", { class: "told-count" }, `${money(sum("usd"))}, ${compact(sum("tokens"))} tokens in ${count(sum("calls"), "call", "calls")} over ${DAYS} days`,
              caps.dayUsd || caps.dayTokens ? "" : "; no cap is set"),
            bars(days, field, cap),
            dayTable(days),
          ]);
    }

    return { refresh };
  },
};

function drawJobs(root, { isWorked, jobs = [] }) {
  const by = Object.groupBy(jobs, ({ place }) => place);
  const tiles = ORDER.map((place) => h("div", { class: `tile is-${place}` },
    h("dt", null, PLACES[place]), h("dd", null, (by[place] ?? []).length)));
  const listed = ORDER.flatMap((place) => (place === "done" ? (by.done ?? []).slice(0, DONE) : by[place] ?? []));
  fill(root,
    h("div", { class: "heading" }, h("h2", { id: "jobs-title" }, "Queue"),
      h("span", { class: isWorked ? "worker runs" : "worker" }, isWorked ? "a worker runs" : "no worker runs")),
    h("dl", { class: "tiles" }, tiles),
    listed.length === 0
      ? emptiness("The queue is empty", "A session that ends puts a job here, and a worker takes it within seconds.", [
        ["archivist init", "lets agents tell of their sessions by themselves"],
        ["archivist worker", "works off what waits"],
      ])
      : h("ul", { class: "jobs" }, listed.map(drawJob)));
}

function drawJob(job) {
  const subject = job.session ?? (job.event ? "a look for sessions" : job.name);
  return h("li", { class: `job is-${job.place in PLACES ? job.place : "other"}`, tabindex: "-1", data: { row: "", focus: `job:${job.name}` } },
    facts(
      h("span", { class: "subject" }, nameSign(subject)),
      words((PLACES[job.place] ?? job.place).toLowerCase(), { class: "place" }),
      job.agent ? words(job.agent) : null,
      job.event ? words(plain(job.event)) : null,
      job.attempts > 0 ? count(job.attempts, "failed try", "failed tries") : null,
      job.notBefore ? h("span", null, "not before ", ago(job.notBefore)) : null,
      h("span", { class: "end" }, `${span(job.ageSeconds ?? 0)} old`)),
    job.note ? h("p", { class: "note", dir: "auto" }, prose(cut(job.note, 400))) : null);
}
