// The panel: which view is shown, the lesson that is open beside it, and how both stay up to date.

import { setWrites } from "./actions.js";
import { api } from "./api.js";
import { fill, h } from "./dom.js";
import { listen } from "./events.js";
import { icon } from "./icons.js";
import { startKeys } from "./keys.js";
import { note } from "./reflections.js";
import { current, go, href } from "./route.js";
import { prose, visible } from "./text.js";
import { lesson } from "./views/lesson.js";
import { lessons } from "./views/lessons.js";
import { map } from "./views/map.js";
import { memory } from "./views/memory.js";
import { quarantine } from "./views/quarantine.js";
import { queue } from "./views/queue.js";
import { sessions } from "./views/sessions.js";

/** Each view: `name`, `title`, `short`, `key`, and `open(page)`, which answers with `{refresh, update?, hear?}`. */
const VIEWS = [lessons, sessions, memory, quarantine, queue, map];
/** Several changes within this time are one. Milliseconds. */
const GATHER = 60;

const place = Object.fromEntries(["view", "drawer", "problem", "nav", "project", "connection", "announcer", "main", "theme"]
  .map((id) => [id, document.getElementById(id)]));
const narrow = matchMedia("(max-width: 1079px)");

let shown = null;
let opened = null;
let project = "";

/** Runs a refresh, never two at once; what is asked for meanwhile is done after it. */
function steady(refresh) {
  let running = null;
  let again = false;
  return async function run() {
    if (running) {
      again = true;
      return running;
    }
    running = refresh().then(() => fill(place.problem), tellProblem).then(markOpen).finally(() => {
      running = null;
      if (again) {
        again = false;
        run();
      }
    });
    return running;
  };
}

function tellProblem(problem) {
  if (!problem.title) throw problem;
  const { title, detail, hint } = problem;
  fill(place.problem, h("div", { class: "problem" },
    h("strong", null, visible(title)), detail ? h("p", null, prose(detail)) : null, hint ? h("p", null, prose(hint)) : null));
}

function follow() {
  const { name, params } = current();
  const view = VIEWS.find((one) => one.name === name) ?? lessons;
  if (shown?.view !== view) show(view, params);
  else if (shown.handle.update) shown.handle.update(params);
  openLesson(params.open);
  markNav();
  markOpen();
}

function show(view, params) {
  const isFirst = shown === null;
  const heading = h("h1", { tabindex: "-1" }, view.title);
  const tools = h("div", { class: "tools" });
  const root = h("div", { class: `body ${view.name}` });
  fill(place.view, h("div", { class: "top" }, heading, tools), root);
  const handle = view.open({ root, tools, params, announce, refresh: () => shown.refresh() });
  shown = { view, handle, refresh: steady(handle.refresh) };
  document.title = [view.title, project, "Archivist"].filter(Boolean).join(" · ");
  place.main.scrollTo?.(0, 0);
  // Whoever changed the view by key or link goes on reading there; on arrival the focus stays where browsers put it.
  if (!isFirst && !params.open) heading.focus({ preventScroll: true });
  shown.refresh();
}

function openLesson(id) {
  if ((opened?.id ?? "") === (id ?? "")) return;
  const before = opened;
  if (!id) {
    opened = null;
    place.drawer.hidden = true;
    fill(place.drawer);
    cover();
    document.querySelector(`[data-focus="lesson:${CSS.escape(before.id)}"]`)?.focus({ preventScroll: true });
    return;
  }
  const handle = lesson.open({ root: place.drawer, id, close: closeLesson });
  opened = { id, refresh: steady(handle.refresh) };
  place.drawer.hidden = false;
  place.drawer.scrollTop = 0;
  cover();
  opened.refresh().then(() => place.drawer.querySelector("h2")?.focus({ preventScroll: true }));
}

function closeLesson() {
  const { name, params } = current();
  if (params.open) go(name, { ...params, open: "" });
}

/** Where there is no room for both, an open lesson covers the view, and nobody should tab into what is covered. */
function cover() {
  document.body.classList.toggle("has-drawer", opened !== null);
  place.main.inert = opened !== null && narrow.matches;
}

function announce(text) {
  place.announcer.textContent = visible(text);
}

function drawNav() {
  fill(place.nav, h("ul", null, VIEWS.map((view) => h("li", null, h("a", {
    href: href(view.name),
    title: `${view.title} (g ${view.key})`,
    "aria-keyshortcuts": `g ${view.key}`,
    data: { view: view.name },
  }, icon(view.name), h("span", { class: "label" }, view.short), h("span", { class: "count" }))))));
}

function markNav() {
  for (const link of place.nav.querySelectorAll("a")) {
    if (link.dataset.view === shown.view.name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

/** Shows in the list which lesson stands open beside it. */
function markOpen() {
  for (const link of place.view.querySelectorAll("a.open")) {
    if (opened && link.dataset.focus === `lesson:${opened.id}`) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

const refreshCounts = steady(async () => {
  const stats = await api.stats();
  const jobs = stats.jobs ?? {};
  const counts = {
    quarantine: stats.lessons?.byState?.quarantined ?? 0,
    queue: (jobs.new ?? 0) + (jobs.claimed ?? 0) + (jobs.dead ?? 0),
  };
  for (const link of place.nav.querySelectorAll("a")) {
    const many = counts[link.dataset.view] ?? 0;
    fill(link.querySelector(".count"), many > 0 ? [many, h("span", { class: "unseen" }, " waiting")] : null);
  }
});

let gathering = null;
function changed() {
  gathering ??= setTimeout(() => {
    gathering = null;
    shown.refresh();
    opened?.refresh();
    refreshCounts();
  }, GATHER);
}

/** What the memory holds may have changed: by a message of the stream, or because there was none for a while. */
function hear(type, data) {
  note(type, data);
  shown.handle.hear?.(type, data);
  if (type === "memory_changed" || type === "lost" || type === "archivist_reflection_complete") changed();
}

function stand(isConnected) {
  const was = place.connection.dataset.is;
  place.connection.dataset.is = isConnected ? "live" : "away";
  place.connection.textContent = isConnected ? "Live" : "Reconnecting";
  if (isConnected && was === "away") changed();
}

async function greet() {
  const health = await api.health();
  project = visible(health.project ?? "");
  place.project.textContent = project;
  document.title = [shown.view.title, project, "Archivist"].filter(Boolean).join(" · ");
  if (health.writes !== "open") {
    setWrites(health.writes);
    shown.refresh();
  }
}

function startTheme() {
  const next = { auto: "light", light: "dark", dark: "auto" };
  const label = () => {
    const theme = window.archivistTheme.get();
    place.theme.textContent = `Theme: ${theme}`;
  };
  place.theme.addEventListener("click", () => {
    window.archivistTheme.set(next[window.archivistTheme.get()]);
    label();
  });
  label();
}

drawNav();
startTheme();
startKeys(VIEWS, { closeLesson });
document.querySelector(".skip").addEventListener("click", (event) => {
  // The address is the panel's own; it must not change for a jump within the page.
  event.preventDefault();
  place.view.focus();
});
window.addEventListener("hashchange", follow);
window.addEventListener("memory-changed", changed);
narrow.addEventListener("change", cover);
follow();
greet().catch(tellProblem);
refreshCounts();
listen(hear, stand);
