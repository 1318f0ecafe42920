// Lessons come from logs, and anybody may have written into a log.

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, it } from "node:test";

import { launch, openPage, skip, visit, World } from "./world.mjs";

const RUN = "window.pwned = 1";
const EVIL = {
  script: `<script>${RUN}</script>`,
  image: `<img src=x onerror="${RUN}">`,
  vector: `<svg onload="${RUN}"><a href="javascript:${RUN}">x</a></svg>`,
  link: `[a link](javascript:${RUN}) javascript:${RUN}`,
  template: `{{constructor.constructor('${RUN}')()}} \${${RUN}} <%= ${RUN} %>`,
  attribute: `" onmouseover="${RUN}" autofocus onfocus="${RUN}" x="`,
  style: "</style><style>*{display:none}</style>",
  direction: "\u202Egnp.exe\u202C is safe \u2066\u0000\u001B[31m\u{E0041}\u{E0042}",
  arabic: "شغّل redis قبل الاختبارات `pytest` دائماً",
  endless: "A".repeat(100 * 1024),
  marks: `Z${"\u0300".repeat(400)}`,
};
const ALL = Object.values(EVIL).filter((text) => text.length < 5000).join(" ");
const VIEWS = ["#/lessons", "#/sessions", "#/memory", "#/quarantine", "#/queue", "#/map"];

const record = (name, at, text, more) => ({
  id: `mem-${name}`,
  alias: `m-${String(200 + at)}`,
  createdAt: new Date(Date.now() - at * 60_000).toISOString(),
  scope: "project",
  category: ALL,
  tags: [text, ALL],
  importance: 0.7,
  severity: ALL,
  summary: text,
  rule: `IF ${text} THEN ${text}`,
  detail: text,
  tool: text.slice(0, 3000),
  provider: ALL,
  component: text,
  source: "archivist",
  usageCount: 0,
  state: "candidate",
  stateReason: ALL,
  evidence: {
    episodeIds: ["ep-hostile"],
    trajectoryIds: ["hostile-1"],
    sessionIds: ["hostile-1"],
    runLogPaths: [],
    quotes: [{ trajectoryId: "hostile-1", step: 2, start: 0, end: 1, text, level: ALL, trust: ALL }],
  },
  ...more,
});

describe("hostile text", { skip: skip() }, () => {
  let world, browser, page;

  before(async () => {
    world = await World.create();
    const lessons = Object.entries(EVIL).map(([name, text], at) => record(name, at, text));
    const absorbed = record("absorbed", 30, ALL);
    await world.append("lessons.jsonl", ...lessons,
      record("held", 31, ALL, { state: "quarantined" }),
      record("merged", 32, `${ALL} and more`, { merges: [{ absorbed, kept: absorbed, at: new Date().toISOString() }], links: [{ to: "mem-script", relation: ALL }] }));
    await world.append("episodes.jsonl", {
      id: "ep-hostile", projectRoot: world.project, sessionId: "hostile-1", kind: "subagent_run",
      startedAt: new Date(Date.now() - 90_000).toISOString(), finishedAt: new Date().toISOString(), status: ALL,
      summary: `${ALL} ${EVIL.endless}`, tags: [ALL], trajectories: [ALL], errorFamilies: [],
      reflected: { logs: [], engine: "heuristic", importance: 0.5, reflection: { outcome: ALL, worked: [ALL, EVIL.endless], failed: [ALL], decisions: [ALL] } },
    });
    await world.append("ledger.jsonl",
      { fact: "sighting", memory: "mem-script", episode: "ep-hostile", at: new Date().toISOString(), level: "reasoning" },
      { fact: "injection", run: "run-1", memory: "mem-script", point: ALL, rank: 1, exposure: ALL, at: new Date().toISOString() });
    const dead = path.join(world.memory, "queue", "dead");
    await mkdir(dead, { recursive: true });
    await writeFile(path.join(dead, "00ff-1.json"), `${EVIL.script} is no job`);
    await world.serve();
    browser = await launch();
    page = await openPage(browser, world, { viewport: { width: 360, height: 740 } });
  });

  after(async () => {
    await browser?.close();
    await world?.remove();
  });

  async function isHarmless(where) {
    const found = await page.evaluate(() => ({
      ran: window.pwned ?? null,
      made: [...document.querySelectorAll("body :is(script, img, iframe, object, embed, style, form[action])")].map((one) => one.outerHTML),
      links: [...document.querySelectorAll("[href]")].map((one) => one.getAttribute("href")).filter((href) => !/^(#|\/panel\/|data:image\/svg)/.test(href)),
      handlers: [...document.querySelectorAll("*")].flatMap((one) => one.getAttributeNames()).filter((name) => name.startsWith("on")),
      raw: /[\u202a-\u202e\u2066-\u2069\u0000-\u0008\u001b]/.test(document.body.textContent),
      width: document.documentElement.scrollWidth,
    }));
    assert.deepEqual(found, { ran: null, made: [], links: [], handlers: [], raw: false, width: 360 }, where);
  }

  it("stays text in every view and breaks no layout", async () => {
    for (const hash of VIEWS) {
      await visit(page, hash);
      await page.locator("#view a.open, #view .session, #view .job, #view .matrix a").first().hover();
      await isHarmless(hash);
    }
    assert.deepEqual(page.complaints, []);
    assert.deepEqual(page.strangers, []);
  });

  it("stays text in every open lesson", async () => {
    for (const name of [...Object.keys(EVIL), "held", "merged"]) {
      await visit(page, `#/memory?which=all&open=mem-${name}`);
      await page.locator("#drawer .versions").waitFor();
      await isHarmless(name);
      await page.keyboard.press("Escape");
    }
    assert.deepEqual(page.complaints, []);
  });

  it("says what hides in a text", async () => {
    await visit(page, "#/memory?which=all&open=mem-direction");
    const told = await page.locator("#drawer h2").textContent();
    assert.ok(told.startsWith("‹U+202E›gnp.exe‹U+202C› is safe"), told);
    await page.keyboard.press("Escape");
  });

  it("shows a text of 100 kB in parts, and whole when asked", async () => {
    await visit(page, "#/memory?which=all&open=mem-endless");
    const heading = page.locator("#drawer h2");
    await heading.waitFor();
    assert.ok((await heading.textContent()).length < 1000);
    await page.locator("#drawer").getByRole("button", { name: "Show all 102,400 characters" }).first().click();
    assert.equal((await heading.textContent()).length, 102_400);
    await isHarmless("the whole text");
    await page.keyboard.press("Escape");
  });

  it("lets Arabic run its own way without turning the rest round", async () => {
    await visit(page, "#/memory?which=all");
    const row = page.locator("#view a.open", { hasText: "redis قبل" });
    assert.equal(await row.evaluate((link) => getComputedStyle(link).direction), "rtl");
    assert.equal(await row.evaluate((link) => getComputedStyle(link.closest("li")).direction), "ltr");
  });
});
