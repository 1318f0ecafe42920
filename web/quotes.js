// The words that a lesson rests on, whose they are, and what stood around them.

import { api } from "./api.js";
import { fill, h } from "./dom.js";
import { plain, VOICES } from "./format.js";
import { cut, marked, nameSign, paragraph, visible, words } from "./text.js";

/** Whose words are believed without a second look. */
const TRUSTED = ["user", "agent", "build_output", "repo_file"];
/** How many steps are shown on each side of a quote. */
const AROUND = 3;
/** A passage of a log is cut to this, around the quote where it has one. */
const PASSAGE = 1500;

const voice = (trust) => VOICES[trust] ?? plain(trust || "somebody unknown");

/** A quote. With `episodes`, what stood around it can be looked up; they are tried in order. */
export function quote(one, episodes = []) {
  const isStranger = !TRUSTED.includes(one.trust);
  const caption = h("figcaption", null,
    h("span", { class: isStranger ? "voice stranger" : "voice" }, words(voice(one.trust))),
    h("span", null, `step ${one.step}`),
    nameSign(one.trajectoryId),
    one.level ? h("span", { title: "How strong the proof is" }, words(plain(one.level))) : null);
  const figure = h("figure", { class: isStranger ? "quote stranger" : "quote" },
    h("blockquote", null, paragraph(one.text, null, { set: (text) => [visible(text)] })), caption);
  if (episodes.length > 0) withContext(figure, caption, one, episodes);
  return figure;
}

function withContext(figure, caption, one, episodes) {
  const context = h("div", { class: "context", hidden: true });
  const button = h("button", {
    type: "button",
    class: "quiet",
    "aria-expanded": "false",
    on: {
      async click() {
        context.hidden = !context.hidden;
        button.setAttribute("aria-expanded", String(!context.hidden));
        button.textContent = context.hidden ? "Show in context" : "Hide context";
        if (context.hidden || context.childElementCount > 0) return;
        fill(context, h("p", { class: "none" }, "Reading the log…"));
        fill(context, await look(one, episodes));
      },
    },
  }, "Show in context");
  caption.append(button);
  figure.append(context);
}

/** The steps around a quote, from the first of the episodes whose log has them. */
async function look(one, episodes) {
  let isGone = false;
  try {
    for (const episode of episodes) {
      const told = await api.steps(episode, { step: one.step, around: AROUND });
      isGone ||= told.gone;
      const steps = (told.steps ?? []).filter((step) => step.trajectoryId === one.trajectoryId);
      if (steps.length > 0) return h("ol", null, steps.map((step) => draw(step, one)));
    }
  } catch (problem) {
    return h("p", { class: "none" }, visible(problem.message));
  }
  return h("p", { class: "none" }, isGone
    ? "The log is no longer there. The quote was checked against it when the lesson was learned."
    : "The log has no such step any more.");
}

function draw(step, one) {
  const isIt = step.step === one.step;
  const passages = (step.passages ?? []).map((passage) => h("div", { class: "passage" },
    h("span", { class: TRUSTED.includes(passage.trust) ? "voice" : "voice stranger" }, words(voice(passage.trust))),
    h("pre", { dir: "auto" }, isIt ? marked(around(passage.text, one.text), one.text) : visible(cut(passage.text, PASSAGE)))));
  return h("li", { class: isIt ? "step it" : "step" },
    h("span", { class: "number" }, h("span", { class: "unseen" }, "step "), step.step), h("div", null, passages));
}

/** The part of a long passage that has the quote in it. */
function around(text, wanted) {
  const whole = String(text ?? "");
  const at = whole.indexOf(wanted);
  if (whole.length <= PASSAGE || at < 0) return cut(whole, Math.max(PASSAGE, wanted.length));
  const from = Math.max(0, at - PASSAGE / 2);
  return `${from > 0 ? "…" : ""}${cut(whole.slice(from), PASSAGE / 2 + wanted.length + (at - from))}`;
}
