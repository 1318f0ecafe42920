// What a person decides about a lesson, with a way back where there is one.

import { api } from "./api.js";
import { confirm } from "./dialog.js";
import { h } from "./dom.js";
import { nameOf } from "./rows.js";
import { prose } from "./text.js";

const SHOWN_FOR = 8000;

const RETIRED = ["archived", "deprecated", "superseded"];

/** Each decision: its word, when it can be taken, what is asked before, and what is said after. */
const DECISIONS = {
  approve: {
    label: "Approve",
    tone: "primary",
    fits: (lesson) => lesson.state === "quarantined",
    done: (name) => `${name} is out of quarantine`,
  },
  reject: {
    label: "Reject",
    tone: "danger",
    fits: (lesson) => lesson.state === "quarantined",
    ask: { title: "Reject this lesson?", text: "It is taken out of use, and what says the same is not learned again.", reason: true },
    done: (name) => `${name} is rejected`,
  },
  promote: {
    label: "Promote",
    fits: (lesson) => lesson.state !== "quarantined" && lesson.state !== "active" && !RETIRED.includes(lesson.state),
    done: (name) => `${name} is given from now on and does not grow old`,
  },
  unmerge: {
    label: "Unmerge",
    fits: (lesson) => (lesson.merges ?? []).length > 0,
    ask: { title: "Make two lessons of it again?", text: "What was merged last comes out, and both are as they were before." },
    done: (name) => `${name} and what it took in are two lessons again`,
  },
  forget: {
    label: "Forget",
    tone: "danger",
    fits: (lesson) => lesson.state !== "quarantined" && !RETIRED.includes(lesson.state),
    ask: { title: "Forget this lesson?", text: "It is taken out of use. It is kept, and can be restored.", reason: true },
    done: (name) => `${name} is out of use`,
    back: true,
  },
};

let isClosed = false;

/** Notes whether the server takes decisions at all. */
export function setWrites(writes) {
  isClosed = writes === "closed";
}

/** The buttons for what can be decided about a lesson now. */
export function buttons(lesson, only) {
  const fitting = Object.entries(DECISIONS).filter(([what, { fits }]) => fits(lesson) && (!only || only.includes(what)));
  const made = fitting.map(([what, { label, tone }]) => h("button", {
    type: "button",
    class: tone ?? "plain",
    disabled: isClosed,
    "aria-label": `${label} ${nameOf(lesson)}`,
    on: { click: (event) => decide(lesson, what, event.currentTarget) },
  }, label));
  if (isClosed && made.length > 0) made.push(h("span", { class: "hint" }, "This server only shows; it was started so."));
  return made;
}

async function decide(lesson, what, button) {
  const { label, tone, ask, done, back } = DECISIONS[what];
  const answer = ask ? await confirm({ ...ask, button: label, tone }) : true;
  if (answer === null) return;
  const body = typeof answer === "string" && answer !== "" ? { reason: answer } : {};
  await attempt(button, async () => {
    await api.decide(lesson.id, what, body);
    const undo = back ? () => api.decide(lesson.id, "restore", { version: lesson.version }) : null;
    toast(done(nameOf(lesson)), { undo });
  });
}

/** The button that makes an earlier version the one that counts. */
export function restoreButton(lesson, version) {
  return h("button", {
    type: "button",
    class: "quiet",
    disabled: isClosed,
    "aria-label": `Bring back version ${version}`,
    on: {
      click: (event) => attempt(event.currentTarget, async () => {
        await api.decide(lesson.id, "restore", { version });
        toast(`${nameOf(lesson)} has the content of version ${version} again`);
      }),
    },
  }, "Bring back");
}

/** Does it once however often the button is pressed, and says what went wrong. */
async function attempt(button, act) {
  button.disabled = true;
  try {
    await act();
    // The stream says so too, but a page should not look as if nothing had happened until then.
    window.dispatchEvent(new CustomEvent("memory-changed"));
  } catch (problem) {
    toast([problem.title ?? "That did not work", problem.detail, problem.hint].filter(Boolean).join(". "), { isError: true });
  } finally {
    button.disabled = false;
  }
}

/** A line at the edge of the page that goes away by itself. */
export function toast(text, { undo = null, isError = false } = {}) {
  const line = h("div", { class: isError ? "toast error" : "toast", role: isError ? "alert" : "status" },
    h("span", null, prose(text)));
  if (undo) {
    line.append(h("button", {
      type: "button",
      class: "quiet",
      on: {
        click: (event) => attempt(event.currentTarget, async () => {
          await undo();
          line.remove();
        }),
      },
    }, "Undo"));
  }
  document.getElementById("toasts").append(line);
  setTimeout(() => line.remove(), SHOWN_FOR);
}
