// Every view, light and dark, wide and narrow: nothing complains, everybody can use it.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { after, before, describe, it } from "node:test";

import { seed } from "./seed.mjs";
import { launch, openPage, settled, skip, visit, World } from "./world.mjs";

const VIEWS = {
  "lessons learned": "#/lessons",
  sessions: "#/sessions",
  memory: "#/memory",
  quarantine: "#/quarantine",
  "queue and spend": "#/queue",
  map: "#/map",
  "an open lesson": "#/memory?open=m-017",
  "a merged lesson": "#/memory?open=m-103",
};
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

describe("every view", { skip: skip() }, () => {
  let world, browser, axe;

  before(async () => {
    world = await World.create();
    await seed(world);
    await world.serve();
    browser = await launch();
    axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  });

  after(async () => {
    await browser?.close();
    await world?.remove();
  });

  const inView = async (page, hash) => {
    await visit(page, hash);
    if (hash.includes("open=")) await page.locator("#drawer .versions").waitFor();
  };

  for (const colorScheme of ["light", "dark"]) {
    it(`can be used by everybody when it is ${colorScheme}`, async () => {
      const page = await openPage(browser, world, { colorScheme, reducedMotion: "reduce" });
      await page.evaluate(axe);
      for (const [name, hash] of Object.entries(VIEWS)) {
        await inView(page, hash);
        const { violations } = await page.evaluate((runOnly) => window.axe.run(document, { runOnly }), RULES);
        const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join("; ")}`);
        assert.deepEqual(told, [], `${name}, ${colorScheme}`);
      }
      await page.context().close();
    });
  }

  it("says nothing to the console and asks nobody but its server", async () => {
    const page = await openPage(browser, world);
    for (const hash of Object.values(VIEWS)) await inView(page, hash);
    await page.locator("#drawer").getByRole("button", { name: "Close the lesson" }).click();
    assert.deepEqual(page.complaints, []);
    assert.deepEqual(page.strangers, []);
    await page.context().close();
  });

  it("fits a phone of 360 pixels without scrolling sideways", async () => {
    const page = await openPage(browser, world, { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true });
    for (const [name, hash] of Object.entries(VIEWS)) {
      await inView(page, hash);
      const width = await page.evaluate(() => Math.max(document.documentElement.scrollWidth, document.getElementById("drawer").scrollWidth));
      assert.ok(width <= 360, `${name} is ${width} pixels wide`);
    }
    await inView(page, "#/map");
    const height = await page.locator(".matrix tbody th").first().evaluate((heading) => heading.offsetHeight);
    assert.ok(height < 60, `a short name of a tool stands on one line, not on ${height} pixels`);
    await page.context().close();
  });

  it("can be used with the keyboard alone", async () => {
    const page = await openPage(browser, world);
    const focused = () => page.evaluate(() => document.activeElement.textContent.trim());
    const viewIs = (name) => page.locator(`#nav a[data-view=${name}][aria-current=page]`).waitFor();
    await page.keyboard.press("Tab");
    assert.equal(await focused(), "Skip to the content");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "view");

    await page.keyboard.press("j");
    const first = await focused();
    await page.keyboard.press("j");
    const second = await focused();
    assert.notEqual(first, second);
    await page.keyboard.press("k");
    assert.equal(await focused(), first);
    await page.keyboard.press("Enter");
    await page.locator("#drawer .versions").waitFor();
    await page.waitForFunction(() => document.activeElement.tagName === "H2");
    await page.keyboard.press("Escape");
    await page.locator("#drawer").waitFor({ state: "hidden" });
    assert.equal(await focused(), first, "the focus is back where it was");

    for (const [key, name] of [["s", "sessions"], ["m", "memory"], ["q", "quarantine"], ["u", "queue"], ["p", "map"], ["l", "lessons"]]) {
      await page.keyboard.press("g");
      await page.keyboard.press(key);
      await viewIs(name);
      assert.equal(await page.evaluate(() => document.activeElement.tagName), "H1");
    }

    await page.keyboard.press("/");
    await viewIs("memory");
    await page.waitForFunction(() => document.activeElement.id === "search");
    await page.keyboard.type("jk?g");
    assert.equal(await page.getByLabel("Search").inputValue(), "jk?g", "typing is typing");
    await page.keyboard.press("Escape");
    assert.notEqual(await page.evaluate(() => document.activeElement.id), "search");

    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "detached" });
    await page.context().close();
  });

  it("shows by an outline where the focus is", async () => {
    const page = await openPage(browser, world);
    const places = new Set();
    for (let press = 0; press < 24; press += 1) {
      await page.keyboard.press("Tab");
      const seen = await page.evaluate(() => {
        const one = document.activeElement;
        const outlined = [getComputedStyle(one), getComputedStyle(one, "::after")].some(({ outlineStyle, outlineWidth }) => outlineStyle !== "none" && outlineWidth !== "0px");
        return { name: one.textContent.trim().slice(0, 60), outlined };
      });
      assert.ok(seen.outlined, `nothing shows that “${seen.name}” has the focus`);
      places.add(seen.name);
    }
    assert.ok(places.size > 12, "tab walks through all of it");
    await page.context().close();
  });

  it("keeps a chosen theme over a reload", async () => {
    const page = await openPage(browser, world, { colorScheme: "light" });
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await ground();
    const button = page.getByRole("button", { name: /^Theme/ });
    await button.click();
    assert.equal(await ground(), light);
    await button.click();
    const dark = await ground();
    assert.notEqual(dark, light);
    await page.reload();
    await settled(page);
    assert.equal(await ground(), dark);
    await page.context().close();
  });

  it("filters the memory by a field of the map", async () => {
    const page = await openPage(browser, world, { hash: "#/map" });
    await page.getByRole("link", { name: "2 lessons: bash with claude-code" }).click();
    await page.waitForFunction(() => document.querySelectorAll("#view .lesson").length === 2);
    assert.match(page.url(), /tool=bash&provider=claude-code/);
    assert.equal(await page.getByLabel("Tool").inputValue(), "bash");
    await page.context().close();
  });

  it("says whether a lesson helps, in words and with its interval", async () => {
    const page = await openPage(browser, world, { hash: "#/memory?open=m-017" });
    const effect = page.locator("#drawer section.effect");
    await effect.getByText("It helps", { exact: true }).waitFor();
    assert.match(await effect.getByRole("img").getAttribute("aria-label"), /95 % certainty between −\d+\s%/);
    await page.context().close();
  });

  it("shows a problem with its hint", async () => {
    const page = await openPage(browser, world);
    await page.route("**/v1/jobs", (route) => route.fulfill({
      status: 503,
      contentType: "application/problem+json",
      body: JSON.stringify({ type: "about:blank", title: "The queue cannot be read", status: 503, detail: "permission denied", hint: "look with `archivist doctor`" }),
    }));
    await page.evaluate(() => {
      location.hash = "#/queue";
    });
    // The first view may have asked for the queue before the answer was replaced.
    await page.reload();
    const problem = page.getByRole("alert").filter({ hasText: "The queue cannot be read" });
    await problem.getByText("archivist doctor").waitFor();
    await page.context().close();
  });
});
