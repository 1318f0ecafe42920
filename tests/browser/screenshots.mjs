// Pictures of every view, light and dark, wide and narrow: node screenshots.mjs FOLDER

import { mkdir } from "node:fs/promises";
import path from "node:path";

import { seed } from "./seed.mjs";
import { launch, openPage, PROGRAM, visit, World } from "./world.mjs";

const VIEWS = {
  lessons: "#/lessons",
  sessions: "#/sessions",
  memory: "#/memory",
  quarantine: "#/quarantine",
  queue: "#/queue",
  map: "#/map",
};
const SIZES = {
  desktop: { viewport: { width: 1360, height: 900 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
};

const folder = process.argv[2];
if (!folder || !PROGRAM) {
  console.error("usage: ARCHIVIST_BIN=target/release/archivist scripts/screenshots FOLDER");
  process.exit(2);
}

await mkdir(folder, { recursive: true });
const [world, empty] = [await World.create(), await World.create()];
const browser = await launch();
try {
  await seed(world);
  await Promise.all([world.serve(), empty.serve()]);
  for (const colorScheme of ["light", "dark"]) {
    for (const [size, device] of Object.entries(SIZES)) {
      const shoot = (page, name, options) => page.screenshot({ path: path.join(folder, `${name}-${size}-${colorScheme}.png`), ...options });
      const page = await openPage(browser, world, { colorScheme, ...device, reducedMotion: "reduce" });
      for (const [name, hash] of Object.entries(VIEWS)) {
        await visit(page, hash);
        await shoot(page, name);
      }
      for (const [name, word] of [["lesson", "docker compose up -d redis"], ["lesson-merged", "Wait for the socket"]]) {
        await visit(page, "#/memory");
        await page.locator("a.open", { hasText: word }).click();
        await page.locator("#drawer h2").waitFor();
        await page.waitForTimeout(200);
        await shoot(page, name);
        if (name === "lesson") {
          await page.getByRole("button", { name: "Show in context" }).first().click();
          await page.locator(".step.it mark").first().waitFor();
          await page.locator("#drawer figure.quote").first().evaluate((quote) => quote.scrollIntoView({ block: "center" }));
          await shoot(page, "lesson-context");
          await page.locator("section.effect").evaluate((effect) => effect.scrollIntoView({ block: "center" }));
          await shoot(page, "lesson-effect");
        } else {
          await page.locator(".versions").scrollIntoViewIfNeeded();
          await shoot(page, "lesson-versions");
        }
        await page.keyboard.press("Escape");
      }
      await page.context().close();
      const bare = await openPage(browser, empty, { colorScheme, ...device });
      await shoot(bare, "empty");
      await bare.context().close();
    }
  }
} finally {
  await browser.close();
  await Promise.all([world.remove(), empty.remove()]);
}
