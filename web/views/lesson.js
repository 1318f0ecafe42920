// One lesson: what it says, what it rests on, where it was seen and given, and what came of that.

import { buttons } from "../actions.js";
import { api } from "../api.js";
import { interval } from "../chart.js";
import { difference } from "../diff.js";
import { fill, h, stampOf } from "../dom.js";
import { ago, count, number, percent, plain, STATES } from "../format.js";
import { quote } from "../quotes.js";
import { here, href } from "../route.js";
import { circumstances, endingSign, facts, importanceSign, nameOf, stateSign } from "../rows.js";
import { cut, nameSign, paragraph, prose, rule, visible, words } from "../text.js";
import { versions } from "../versions.js";

/** How many lines of one kind are shown before somebody asks for more. */
const LINES = 8;

const EFFECTS = {
  recurred: "the trouble came back",
  prevented: "the trouble was spared",
  unknown: "nobody can tell",
};

const EXPOSURES = { exposed: "given", withheld: "held back" };

const RELATIONS = { same: "says what", similar: "is much like", refines: "refines", contradicts: "contradicts", "replaced by": "gave way to" };

export const lesson = {
  open({ root, id, close }) {
    let stamp = null;
    const shut = h("button", { type: "button", class: "close", "aria-label": "Close the lesson", on: { click: close } }, "✕");
    fill(root, h("div", { class: "bar" }, h("span", { class: "name" }, words(id)), shut), h("p", { class: "none" }, "Looking…"));
    return {
      async refresh() {
        const [grounds, history] = await Promise.all([api.why(id), api.history(id)]).catch((problem) => {
          fill(root, h("div", { class: "bar" }, h("span", { class: "name" }, words(id)), shut),
            h("h2", { tabindex: "-1" }, problem.status === 404 ? "There is no such lesson" : visible(problem.title)),
            h("p", null, prose(problem.detail ?? "")));
          throw problem;
        });
        const now = stampOf([grounds, history]);
        if (now === stamp) return;
        stamp = now;
        const hadFocus = root.contains(document.activeElement);
        fill(root, h("div", { class: "bar" }, head(grounds.lesson), shut), draw(grounds, history));
        if (hadFocus) root.querySelector("h2").focus({ preventScroll: true });
      },
    };
  },
};

function head(lesson) {
  return facts(words(nameOf(lesson), { class: "name" }), stateSign(lesson.state), importanceSign(lesson.importance));
}

function draw(grounds, history) {
  const { lesson, quotes = [], seen = [], related = [], given = [], feedback = [], effect } = grounds;
  const episodes = episodesOf(grounds);
  return [
    paragraph(lesson.summary, { tabindex: "-1" }, { limit: 600, element: "h2" }),
    lesson.rule ? rule(lesson.rule, { class: "rule" }) : null,
    lesson.detail ? paragraph(lesson.detail, { class: "detail" }) : null,
    h("p", { class: "standing" }, STATES[lesson.state] ?? "Its state is not decided", ".",
      lesson.stateReason ? [" ", words(cut(capital(lesson.stateReason), 300)), "."] : null),
    h("div", { class: "buttons" }, buttons(lesson)),
    properties(lesson),
    section("What it rests on", quotes, (one) => quote(one, episodes(one)), lesson.source === "manual" ? "Somebody's word: it was written by hand." : "No quotes were kept.", "div"),
    section(`Seen in ${count(seen.length, "session", "sessions")}`, seen, drawSeen),
    drawEffect(effect),
    section("Chosen for", given, drawGiven, "It was not given to any run yet."),
    section("What was said of it", feedback, drawFeedback),
    section("What it took in", lesson.merges ?? [], (merge) => drawMerge(merge, lesson)),
    section("Beside other lessons it", related, drawRelated),
    versions(lesson, history),
  ];
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Which episodes may have the log of a quote: those of its own session first. */
function episodesOf({ lesson, seen = [] }) {
  return (one) => {
    const own = seen.filter(({ session }) => session === one.trajectoryId).map(({ episode }) => episode);
    const others = seen.map(({ episode }) => episode);
    return [...new Set([...own, ...others, ...(lesson.evidence?.episodeIds ?? [])])].slice(0, LINES);
  };
}

function properties(lesson) {
  const rows = [
    ["Kind", plain(lesson.kind ?? "lesson")],
    ["Category", plain(lesson.category)],
    ["Scope", plain(lesson.scope)],
    ["Severity", lesson.severity && plain(lesson.severity)],
    ...circumstances(lesson).map(({ name, value }) => [capital(name), value]),
    ["Failure", lesson.errorFamily, "name"],
    ["Source", plain(lesson.source)],
    ["Evergreen", lesson.evergreen ? "never grows old" : null],
  ].filter(([, value]) => value);
  const tags = (lesson.tags ?? []).slice(0, 40).map((tag) => h("a", { class: "tag", href: href("memory", { tag }) }, words(cut(tag, 40))));
  return h("dl", { class: "properties" },
    rows.map(([name, value, kind]) => h("div", null, h("dt", null, name), h("dd", null, words(cut(value, 120), { class: kind })))),
    h("div", null, h("dt", null, "Learned"), h("dd", null, ago(lesson.createdAt))),
    h("div", null, h("dt", null, "Used"), h("dd", null, count(lesson.usageCount ?? 0, "time", "times"))),
    tags.length > 0 ? h("div", { class: "wide" }, h("dt", null, "Tags"), h("dd", null, tags)) : null);
}

/** A heading and its lines, the first few of them; nothing at all, or `none`, where there is no line. */
function section(title, items, make, none = null, list = "ul") {
  if (items.length === 0) return none ? h("section", null, h("h3", null, title), h("p", { class: "none" }, none)) : null;
  const lines = h(list, { class: "lines" });
  const item = (one) => (list === "ul" ? h("li", null, make(one)) : make(one));
  lines.append(...items.slice(0, LINES).map(item));
  const rest = items.slice(LINES);
  const more = rest.length > 0 && h("button", {
    type: "button",
    class: "quiet",
    on: {
      click() {
        lines.append(...rest.map(item));
        more.remove();
      },
    },
  }, `Show ${number(rest.length)} more`);
  return h("section", null, h("h3", null, title), lines, more || null);
}

function drawSeen({ session, episode, status, summary, at, level }) {
  return [
    facts(
      h("a", { href: href("sessions", { session }) }, nameSign(session ?? episode)),
      endingSign(status),
      h("span", { title: "How strong the proof is" }, words(plain(level))),
      h("span", { class: "end" }, ago(at))),
    summary ? h("p", { class: "gist", dir: "auto" }, prose(cut(summary, 240))) : null,
  ];
}

function drawEffect(effect) {
  if (!effect || effect.shown + effect.heldBack === 0) return null;
  const { arms, estimate, harm } = effect;
  const verdict = harm ? "harms" : estimate?.verdict ?? "unclear";
  const answer = { helps: "It helps", harms: "It does harm" }[verdict] ?? "Not clear yet";
  const side = ({ runs, recurred }, told) =>
    (runs > 0 ? `${percent(recurred / runs)} of ${count(runs, "run", "runs")} ${told}` : `no run ${told} that tells anything yet`);
  return h("section", { class: "effect" },
    h("h3", null, "Does it help? ", h("span", { class: `verdict is-${verdict}` }, answer)),
    estimate ? interval({ ...estimate, verdict }) : null,
    h("p", null, `Its trouble came back in ${side(arms.exposed, "that had it")}, and in ${side(arms.withheld, "that it was held back from")}.`),
    estimate
      ? h("p", { class: "none" }, `Difference ${percent(estimate.difference, true)}; with 95 % certainty between ${percent(estimate.low, true)} and ${percent(estimate.high, true)}. Below zero it helps.`)
      : h("p", { class: "none" }, "It takes runs of both sorts to tell."));
}

function drawGiven({ run, point, exposure, effect, at }) {
  const isShown = exposure === "exposed";
  return facts(
    nameSign(run),
    h("span", { class: isShown ? "given" : "given withheld" }, EXPOSURES[exposure] ?? words(cut(plain(exposure), 40)), " at ", words(cut(point, 40))),
    h("span", { class: `came is-${effect in EFFECTS ? effect : "open"}` }, EFFECTS[effect] ?? "not looked at yet"),
    h("span", { class: "end" }, ago(at)));
}

function drawFeedback({ verdict, role, weight, level, session, episode, regression, at }) {
  return facts(
    h("span", { class: verdict === "validated" ? "came is-prevented" : "came is-recurred" }, verdict === "validated" ? "it held" : "it was noise"),
    role ? words(cut(role, 40)) : null,
    h("span", null, `weight ${weight}`), words(plain(level)),
    nameSign(session ?? episode),
    regression ? h("strong", null, "it had held before") : null,
    h("span", { class: "end" }, ago(at)));
}

function drawMerge({ absorbed, at }, lesson) {
  const parts = ["summary", "rule", "detail"].filter((part) => absorbed[part] && absorbed[part] !== lesson[part]);
  return [
    facts(words(nameOf(absorbed), { class: "name" }), "said, against what the lesson says now", h("span", { class: "end" }, ago(at))),
    parts.length > 0
      ? parts.map((part) => difference(cut(absorbed[part], 4000), cut(lesson[part] ?? "", 4000)))
      : h("p", { class: "none" }, "Word for word the same."),
  ];
}

function drawRelated({ relation, id, alias, summary, state }) {
  const name = alias ?? id;
  return [
    facts(words(RELATIONS[relation] ?? plain(relation)),
      words(name, { class: "name" }), state ? stateSign(state) : null),
    h("a", { href: here({ open: name }), dir: "auto" }, summary ? prose(cut(summary, 240)) : words(name)),
  ];
}
