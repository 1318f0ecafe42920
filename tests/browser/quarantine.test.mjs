// A person decides about what strangers said.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { seed } from "./seed.mjs";
import { launch, openPage, skip, TOKEN, World } from "./world.mjs";

const MATTER = "npm ci installs are slow, go through the build cache proxy";

describe("quarantine", { skip: skip() }, () => {
  let world, browser, page;

  before(async () => {
    world = await World.create();
    await seed(world);
    await world.serve();
    browser = await launch();
    page = await openPage(browser, world, { hash: "#/quarantine" });
  });

  after(async () => {
    await browser?.close();
    await world?.remove();
  });

  it("says why a lesson is held, and whose words it rests on", async () => {
    const card = page.locator(".card", { hasText: "HTTP_PROXY" });
    await card.getByText("everything it quotes was written by the web").waitFor();
    await card.getByText("a page of the web").waitFor();
    assert.match(await page.locator("#nav a[data-view=quarantine]").textContent(), /2/);
  });

  it("lets an approved lesson be given to agents", async () => {
    assert.equal(await world.cli("recall", MATTER, "--tool", "bash"), "", "it is held back until then");
    await page.getByRole("button", { name: "Approve m-101" }).click();
    await page.getByLabel("Token").fill("a guess");
    await page.getByRole("button", { name: "Go on" }).click();
    await page.getByText("did not take the token").waitFor();
    await page.getByLabel("Token").fill(TOKEN);
    await page.getByRole("button", { name: "Go on" }).click();
    await page.locator(".card", { hasText: "HTTP_PROXY" }).waitFor({ state: "detached" });
    assert.match(await world.cli("recall", MATTER, "--tool", "bash"), /HTTP_PROXY/);
  });

  it("takes a rejected lesson out of use, with the reason", async () => {
    await page.getByRole("button", { name: "Reject m-102" }).click();
    await page.getByLabel("Why?").fill("that was a stranger's advice");
    await page.getByRole("dialog").getByRole("button", { name: "Reject" }).click();
    await page.getByText("Nothing is held back").waitFor();
    const { state, stateReason } = await world.json("show", "m-102");
    assert.equal(state, "archived");
    assert.match(stateReason, /that was a stranger's advice/);
  });
});
