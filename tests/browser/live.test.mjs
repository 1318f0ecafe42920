// What is learned appears while one looks, and shows what it rests on.

import assert from "node:assert/strict";
import path from "node:path";
import { after, before, describe, it } from "node:test";

import { launch, openPage, ROOT, skip, visit, World } from "./world.mjs";

const BILLING = path.join(ROOT, "fixtures/logs/generic/billing.jsonl");

describe("the panel, live", { skip: skip() }, () => {
  let world, browser, page;

  before(async () => {
    world = await World.create();
    await world.serve();
    browser = await launch();
    page = await openPage(browser, world);
  });

  after(async () => {
    await browser?.close();
    await world?.remove();
  });

  it("says what to do next while nothing is learned", async () => {
    await page.getByText("archivist init", { exact: true }).waitFor();
    await page.getByText("archivist reflect --file session.jsonl").waitFor();
  });

  it("shows a lesson within a second of its reflection", async () => {
    await world.cli("reflect", "--file", BILLING);
    const ended = performance.now();
    const lesson = page.locator("#view a.open", { hasText: "docker compose up -d redis" });
    await lesson.waitFor({ timeout: 5000 });
    const took = performance.now() - ended;
    assert.ok(took <= 1000, `it took ${Math.round(took)} ms`);
    assert.equal(await page.locator("#view .lesson.fresh").count(), 2, "what is new is marked as new");
    assert.match(await page.locator("#announcer").textContent(), /2 new lessons/);
    assert.match(await page.locator("#view section.group h2").first().textContent(), /Make the billing tests pass/);
  });

  it("tells of the reflection", async () => {
    await page.locator(".feed li", { hasText: "2 lessons learned" }).waitFor({ timeout: 5000 });
  });

  it("shows the quotes of a lesson after a click, and whose words they are", async () => {
    await page.locator("#view a.open", { hasText: "docker compose up -d redis" }).click();
    const quotes = page.locator("#drawer figure.quote");
    await quotes.first().waitFor();
    assert.equal(await quotes.count(), 3);
    const said = await quotes.filter({ hasText: "Error 111 connecting to localhost:6379" }).textContent();
    assert.match(said, /build output/);
    assert.match(said, /step 2/);
  });

  it("shows what stood around a quote, with the quote marked", async () => {
    const quote = page.locator("#drawer figure.quote", { hasText: "Error 111" });
    await quote.getByRole("button", { name: "Show in context" }).click();
    await quote.locator(".step.it mark").waitFor();
    assert.match(await quote.locator("mark").textContent(), /Error 111 connecting to localhost:6379/);
    assert.ok((await quote.locator(".step").count()) > 2, "the steps before and after are there");
    await quote.getByRole("button", { name: "Hide context" }).click();
    await quote.locator(".context").waitFor({ state: "hidden" });
  });

  it("keeps an open lesson up to date while somebody else decides about it", async () => {
    const [{ alias }] = (await world.json("list")).filter(({ summary }) => summary.includes("redis"));
    await world.decide("promote", alias);
    await page.locator("#drawer .state-active").waitFor({ timeout: 3000 });
  });

  it("forgets a lesson with a reason, and takes that back", async () => {
    await page.locator("#drawer").getByRole("button", { name: /^Forget/ }).click();
    await page.getByLabel("Why?").fill("we use another cache");
    await page.getByRole("dialog").getByRole("button", { name: "Forget" }).click();
    await page.locator("#drawer .state-archived").waitFor();
    await page.locator("#drawer .standing", { hasText: "we use another cache" }).waitFor();
    await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
    await page.locator("#drawer .state-active").waitFor();
  });

  it("brings back an earlier version", async () => {
    const versions = page.locator("#drawer .versions > li");
    await page.locator("#drawer").getByRole("button", { name: "Bring back version 1" }).click();
    await page.locator("#drawer .versions .facts", { hasText: "brings back version 1" }).waitFor();
    assert.ok((await versions.count()) > 3);
    await page.keyboard.press("Escape");
    await page.locator("#drawer").waitFor({ state: "hidden" });
  });

  it("keeps the focus where it is when something new arrives", async () => {
    const row = page.locator("#view a.open", { hasText: "docker compose up -d redis" });
    await row.focus();
    await world.cli("add", "Prefer rg over grep in this repository");
    await page.locator("#view a.open", { hasText: "Prefer rg" }).waitFor({ timeout: 3000 });
    assert.match(await page.evaluate(() => document.activeElement.textContent), /docker compose up -d redis/);
  });

  it("finds lessons by their words and keeps the search in the address", async () => {
    await visit(page, "#/memory");
    await page.getByLabel("Search").fill("redis");
    await page.waitForFunction(() => document.querySelectorAll("#view .lesson").length === 1);
    assert.match(page.url(), /text=redis/);
    await page.reload();
    await page.waitForFunction(() => document.querySelectorAll("#view .lesson").length === 1);
    assert.equal(await page.getByLabel("Search").inputValue(), "redis");
  });

  it("said nothing to the console and asked nobody else", () => {
    assert.deepEqual(page.complaints, []);
    assert.deepEqual(page.strangers, []);
  });

  it("finds the server again after a restart", async () => {
    await visit(page, "#/lessons");
    const port = new URL(world.url).port;
    await world.stop();
    await page.locator("#connection[data-is=away]").waitFor();
    await world.cli("add", "Learned while nobody served");
    await world.serve(port);
    await page.locator("#connection[data-is=live]").waitFor({ timeout: 20_000 });
    await page.locator("#view a.open", { hasText: "Learned while nobody served" }).waitFor({ timeout: 3000 });
  });
});
