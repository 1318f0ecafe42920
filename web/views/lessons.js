// Lessons learned: what the current and recent sessions taught, as it is learned.

import { api } from "../api.js";
import { fill, h, refill, stampOf } from "../dom.js";
import { ago, count, headline, money, plain } from "../format.js";
import { reflections } from "../reflections.js";
import { href } from "../route.js";
import { emptiness, endingSign, facts, lessonRow } from "../rows.js";
import { cut, nameSign, prose, words } from "../text.js";

/** How many sessions are shown before somebody asks for more. */
const PAGE = 12;
const OUT_OF_USE = ["archived", "deprecated", "superseded"];
/** What no session taught stands under this name, which no session can have. */
const BY_HAND = "/by hand";

/** The lessons that were there when somebody last looked; what is not among them is new. */
let known = null;

export const lessons = {
  name: "lessons",
  title: "Lessons learned",
  short: "Learned",
  key: "l",
  open(page) {
    let shown = PAGE;
    const feed = h("ul", { class: "feed", "aria-label": "Reflections" });
    const groups = h("div", { class: "groups" });
    const more = h("div", { class: "more" });
    page.root.append(feed, groups, more);

    async function refresh() {
      const [all, episodes] = await Promise.all([api.lessons({ which: "all", limit: 400 }), api.episodes({ limit: 200 })]);
      const fresh = new Set(known ? all.filter(({ id }) => !known.has(id)).map(({ id }) => id) : []);
      known = new Set(all.map(({ id }) => id));
      const made = group(all.filter(({ state }) => !OUT_OF_USE.includes(state)), episodes);
      drawFeed(feed);
      if (made.length === 0) {
        fill(groups, emptiness("Nothing learned yet", "Lessons appear here while agents work. Two ways to begin:", [
          ["archivist init", "puts hooks into the settings of your agents, so that each session is reflected on when it ends"],
          ["archivist reflect --file session.jsonl", "reflects on one session log now"],
        ]));
      } else {
        groups.querySelector(".empty")?.remove();
        refill(groups, made.slice(0, shown).map((one) => ({
          key: one.key,
          stamp: stampOf([one, location.hash.split("?")[0]]),
          make: () => draw(one, fresh),
        })));
      }
      drawMore(made.length);
      const news = all.filter(({ id }) => fresh.has(id));
      if (news.length > 0) page.announce(`${count(news.length, "new lesson", "new lessons")}: ${cut(news[0].summary, 200)}`);
    }

    function drawMore(total) {
      fill(more, total > shown && h("button", {
        type: "button",
        class: "plain",
        on: {
          click() {
            shown += PAGE;
            page.refresh();
          },
        },
      }, `Show ${count(Math.min(PAGE, total - shown), "more session", "more sessions")}`));
    }

    return { refresh, hear: () => drawFeed(feed) };
  },
};

/** Lessons by the session that taught them, and sessions that taught nothing; the latest first. */
function group(all, episodes) {
  const groups = new Map();
  const of = (key) => {
    if (!groups.has(key)) groups.set(key, { key, lessons: [], again: [], episode: null, at: "" });
    return groups.get(key);
  };
  const teacher = (lesson) => lesson.evidence?.sessionIds?.[0] ?? BY_HAND;
  for (const lesson of all) {
    const one = of(teacher(lesson));
    one.lessons.push(lesson);
    if (lesson.createdAt > one.at) one.at = lesson.createdAt;
  }
  for (const episode of episodes) {
    const one = of(episode.sessionId);
    if (!one.episode || episode.finishedAt > one.episode.finishedAt) one.episode = episode;
    if (one.lessons.length === 0 && episode.finishedAt > one.at) one.at = episode.finishedAt;
    // A lesson does not list who showed it again, but the last time that it was seen is the end of that session.
    one.again = all.filter((lesson) => lesson.counters?.lastSeenAt === episode.finishedAt && teacher(lesson) !== episode.sessionId);
  }
  for (const one of groups.values()) one.lessons.sort((a, b) => (b.importance ?? 0) - (a.importance ?? 0));
  return [...groups.values()].sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
}

function draw(group, fresh) {
  const { lessons: learned, again, episode, at } = group;
  const rows = [
    ...learned.map((lesson) => lessonRow(lesson, { isFresh: fresh.has(lesson.id), isTimed: !episode })),
    ...again.map((lesson) => lessonRow(lesson, { note: h("span", { class: "again" }, "seen again here"), isTimed: false })),
  ];
  return h("section", { class: rows.length > 0 ? "group" : "group bare" },
    heading(group, at),
    rows.length > 0 ? h("ul", { class: "list" }, rows) : h("p", { class: "none" }, "Nothing to learn from it."));
}

function heading({ key, episode }, at) {
  if (key === BY_HAND) return h("header", null, h("h2", null, "Written by hand"), facts(h("span", { class: "end" }, ago(at))));
  const { title, rest } = headline(episode?.summary);
  return h("header", null,
    h("h2", { dir: "auto" }, h("a", { href: href("sessions", { session: key }), title: "This session in the timeline" },
      title ? prose(cut(title, 160)) : nameSign(key))),
    facts(endingSign(episode?.status), title ? nameSign(key) : null,
      episode?.tags?.[0] ? words(cut(episode.tags[0], 40)) : null,
      episode?.usage?.costUsd ? money(episode.usage.costUsd) : null,
      h("span", { class: "end" }, ago(at))),
    rest ? h("p", { class: "gist", dir: "auto" }, prose(cut(rest, 240))) : null);
}

function drawFeed(feed) {
  const { running, ended } = reflections();
  const line = (key, data, make) => ({ key: `${key}:${data.ts}:${data.sessionId ?? ""}`, stamp: stampOf(data), make });
  const session = (data) => (data.sessionId ? nameSign(data.sessionId) : "a session");
  refill(feed, [
    ...running.map((data) => line("runs", data, () => h("li", { class: "runs" },
      h("span", null, "Reflecting on ", session(data), ` (${plain(data.scenario)})`), ago(data.ts)))),
    ...ended.map((data) => line("ended", data, () => h("li", null,
      h("span", null, "Reflected on ", session(data), ": ", yieldOf(data)), ago(data.ts)))),
  ]);
}

function yieldOf({ memoriesCreated = 0, memoriesUpdated = 0 }) {
  const parts = [];
  if (memoriesCreated > 0) parts.push(`${count(memoriesCreated, "lesson", "lessons")} learned`);
  if (memoriesUpdated > 0) parts.push(`${count(memoriesUpdated, "lesson", "lessons")} seen again or changed`);
  return parts.length > 0 ? parts.join(", ") : "nothing new";
}
