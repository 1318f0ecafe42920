// Numbers, times and words as people read them.

import { h } from "./dom.js";

const NUMBER = new Intl.NumberFormat("en-GB");
const COMPACT = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });
const MOMENT = new Intl.DateTimeFormat("en-GB", { year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short", year: "numeric" });

export const number = (value) => NUMBER.format(value ?? 0);
export const compact = (value) => COMPACT.format(value ?? 0);
export const clock = (iso) => CLOCK.format(new Date(iso));
export const day = (iso) => DAY.format(new Date(iso));

export function count(many, one, several) {
  return `${number(many)} ${many === 1 ? one : several}`;
}

export function money(usd) {
  const value = usd ?? 0;
  if (value === 0) return "$0";
  return value < 1 ? `$${value.toFixed(4)}` : `$${value.toFixed(2)}`;
}

/** A share as a whole number of percent, with its sign where that matters. */
export function percent(share, signed = false) {
  const value = Math.round(share * 100);
  return `${signed && value > 0 ? "+" : ""}${value}\u00a0%`.replace("-", "−");
}

export function span(seconds) {
  if (seconds < 60) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.round(seconds / 3600)} h`;
  return count(Math.round(seconds / 86_400), "day", "days");
}

function since(iso) {
  const seconds = (Date.now() - Date.parse(iso)) / 1000;
  if (!Number.isFinite(seconds)) return "at some time";
  if (seconds < 5) return "now";
  return seconds > 60 * 86_400 ? day(iso) : `${span(seconds)} ago`;
}

/** How long ago something was; it keeps itself up to date. */
export function ago(iso) {
  const date = new Date(iso);
  if (!iso || Number.isNaN(date.getTime())) return h("span", null, "at some time");
  return h("time", { datetime: date.toISOString(), title: MOMENT.format(date), class: "ago" }, since(iso));
}

setInterval(() => {
  for (const element of document.querySelectorAll("time.ago")) {
    const told = since(element.dateTime);
    if (element.textContent !== told) element.textContent = told;
  }
}, 5000);

/** The words of the records as people say them: `test_strategy` is a test strategy. No such word is a long one. */
export function plain(word) {
  return word === "anti_pattern" ? "anti-pattern" : String(word ?? "").slice(0, 40).replaceAll("_", " ");
}

/** What the state of a lesson means for whoever asks. */
export const STATES = {
  observed: "Seen once; waits until another session shows it",
  candidate: "Given where it fits; more sessions make it firm",
  verified: "Shown by several sessions; given where it fits",
  active: "Somebody stands behind it; given, and does not grow old",
  quarantined: "Held back until a person decides",
  deprecated: "No longer given",
  archived: "Out of use",
  superseded: "Another lesson took its place",
};

/** Whose words a quote is made of. */
export const VOICES = {
  user: "the user",
  agent: "the agent",
  build_output: "build output",
  repo_file: "a file of the repository",
  tool_output: "output of a tool",
  web: "a page of the web",
  other_agent: "another agent",
  injected_memory: "a lesson given before",
};

/**
 * The summary of a session as a heading and the rest of it. Most begin with what was asked for, and then say how it ended,
 * which stands beside it anyway.
 */
export function headline(summary) {
  const told = String(summary ?? "").trim();
  const ending = /^([\s\S]*?)\s*\b(?:Success|Partial|Failed|Aborted): ([\s\S]*)$/.exec(told);
  if (ending) return { title: ending[1].replace(/\.$/, ""), rest: ending[2] };
  const sentence = /^([\s\S]{10,160}?[.!?])\s+([\s\S]+)$/.exec(told);
  return sentence ? { title: sentence[1], rest: sentence[2] } : { title: told, rest: "" };
}

/** How a session ended. */
export const ENDINGS = { success: "ended well", partial: "ended half done", failed: "failed", aborted: "was broken off" };
