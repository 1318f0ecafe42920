// Sessions: when they ran, how they ended, what they cost, what failed in them and what fixed it.

import { api } from "../api.js";
import { fill, h, refill, stampOf } from "../dom.js";
import { clock, compact, count, day, ENDINGS, headline, money, number, span } from "../format.js";
import { go, here, href } from "../route.js";
import { emptiness, endingSign, facts, nameOf } from "../rows.js";
import { cut, nameSign, paragraph, prose, words } from "../text.js";

const PAGE = 50;
/** How many lines of one kind are shown of a session. */
const LINES = 6;

export const sessions = {
  name: "sessions",
  title: "Sessions",
  short: "Sessions",
  key: "s",
  open(page) {
    let limit = PAGE;
    let only = page.params.session ?? "";
    const list = h("div", { class: "days" });
    const more = h("div", { class: "more" });
    const filter = h("div");
    page.root.append(filter, list, more);

    async function refresh() {
      const [episodes, lessons] = await Promise.all([
        api.episodes({ limit: limit + 1, session: only }),
        api.lessons({ which: "all", limit: 1000 }),
      ]);
      drawFilter();
      if (episodes.length === 0) {
        fill(list, emptiness("No sessions yet", "Each session that is reflected on is listed here.", [
          ["archivist batch --days 30", "reflects on the sessions of the last month"],
          ["archivist init", "lets agents tell of their sessions by themselves"],
        ]));
        return;
      }
      list.querySelector(".empty")?.remove();
      const taught = byEpisode(lessons);
      const shown = episodes.slice(0, limit).sort((a, b) => Date.parse(b.finishedAt) - Date.parse(a.finishedAt));
      const days = Map.groupBy(shown, (episode) => day(episode.finishedAt));
      refill(list, [...days].map(([name, those]) => ({
        key: name,
        stamp: stampOf([those, those.map(({ id }) => taught.get(id)), location.hash.split("?")[0]]),
        make: () => h("section", { class: "day" }, h("h2", null, name),
          h("ol", { class: "timeline" }, those.map((episode) => draw(episode, taught.get(episode.id) ?? [])))),
      })));
      fill(more, episodes.length > limit && h("button", {
        type: "button",
        class: "plain",
        on: {
          click() {
            limit += PAGE;
            page.refresh();
          },
        },
      }, "Show older sessions"));
    }

    function drawFilter() {
      fill(filter, only && h("p", { class: "only" }, "Only the session ", words(only, { class: "name" }), " ",
        h("button", { type: "button", class: "quiet", on: { click: () => go("sessions", {}) } }, "Show all")));
    }

    return {
      refresh,
      update(params) {
        if ((params.session ?? "") === only) return;
        only = params.session ?? "";
        page.refresh();
      },
    };
  },
};

function byEpisode(lessons) {
  const taught = new Map();
  for (const lesson of lessons) {
    for (const id of lesson.evidence?.episodeIds ?? []) {
      if (!taught.has(id)) taught.set(id, []);
      taught.get(id).push({ name: nameOf(lesson), summary: lesson.summary });
    }
  }
  return taught;
}

function draw(episode, learned) {
  const { status, reflected, usage, errorFamilies = [], tags = [] } = episode;
  const seconds = (Date.parse(episode.finishedAt) - Date.parse(episode.startedAt)) / 1000;
  const reflection = reflected?.reflection ?? {};
  const tokens = (usage?.promptTokens ?? 0) + (usage?.completionTokens ?? 0);
  const { title, rest } = headline(episode.summary);
  const told = [
    endingSign(status),
    nameSign(episode.sessionId),
    episode.taskId ? h("span", { class: "facet", title: "task" }, words(cut(episode.taskId, 40))) : null,
    tags[0] ? words(cut(tags[0], 40)) : null,
    seconds > 0 ? span(seconds) : null,
    errorFamilies.length > 0 ? count(errorFamilies.length, "kind of failure", "kinds of failure") : null,
    h("span", { class: "end" },
      tokens > 0 ? h("span", { title: `${number(usage.promptTokens)} read, ${number(usage.completionTokens)} written` }, `${compact(tokens)} tokens`) : null,
      usage?.costUsd ? h("span", { class: "cost" }, money(usage.costUsd)) : null),
  ];
  return h("li", { class: `session is-${status in ENDINGS ? status : "other"}` },
    h("time", { class: "clock", datetime: episode.finishedAt }, clock(episode.finishedAt)),
    h("div", { class: "told", tabindex: "-1", data: { row: "", focus: `session:${episode.id}` } },
      h("h3", { class: "title", dir: "auto" }, title ? prose(cut(title, 300)) : nameSign(episode.sessionId)),
      facts(told),
      rest ? paragraph(rest, { class: "gist" }, { limit: 500 }) : null,
      lines("What failed", reflection.failed, "failed"),
      lines("What worked", reflection.worked, "worked"),
      lines("What was decided", reflection.decisions, "decided"),
      learned.length > 0 ? h("div", { class: "lines learned" }, h("h4", null, "What it taught"),
        h("ul", null, learned.map((lesson) => h("li", null,
          h("a", { href: here({ open: lesson.name }), data: { focus: `lesson:${lesson.name}` } },
            words(lesson.name, { class: "name" }), " ", h("span", { dir: "auto" }, prose(cut(lesson.summary, 160)))))))) : null,
      reflected ? null : h("p", { class: "none" }, "Not reflected on yet: see the ", h("a", { href: href("queue") }, "queue"), ".")));
}

function lines(title, told, kind) {
  if (!told?.length) return null;
  const left = told.length - LINES;
  return h("div", { class: `lines ${kind}` }, h("h4", null, title),
    h("ul", null,
      told.slice(0, LINES).map((line) => h("li", { dir: "auto" }, prose(cut(line, 300)))),
      left > 0 ? h("li", { class: "rest" }, `and ${number(left)} more`) : null));
}
