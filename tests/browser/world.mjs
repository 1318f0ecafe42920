// A project of its own with a memory, a server and a browser, thrown away afterwards.

import { execFile, spawn } from "node:child_process";
import { appendFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { chromium } from "playwright-core";

const run = promisify(execFile);

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const PROGRAM = process.env.ARCHIVIST_BIN ? path.resolve(process.env.ARCHIVIST_BIN) : null;
export const BROWSER = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** What the server asks for where a person decides. */
export const TOKEN = "only-a-person-knows-this";

/** Why the tests cannot run here, or `false`. Where they must run, that is an error. */
export function skip() {
  if (PROGRAM) return false;
  const why = "ARCHIVIST_BIN is not set: the panel is not tested in a browser";
  if (process.env.ARCHIVIST_REQUIRE_BROWSER === "1") throw new Error(why);
  return why;
}

/** Nothing that a browser fetches on its own account may blur what the page asks for. */
const QUIET = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

export function launch() {
  return chromium.launch({ executablePath: BROWSER, headless: true, args: QUIET });
}

/** A temporary project. */
export class World {
  static async create() {
    const world = new World();
    world.directory = await mkdtemp(path.join(tmpdir(), "archivist-panel-"));
    world.home = path.join(world.directory, "home");
    world.project = path.join(world.directory, "webshop");
    world.memory = path.join(world.project, ".openagents", "memory");
    await mkdir(world.home, { recursive: true });
    await mkdir(world.memory, { recursive: true });
    return world;
  }

  get #options() {
    // Nothing of whoever runs the tests is to be seen in them, and the times of the page are the same everywhere.
    const env = { PATH: process.env.PATH, HOME: this.home, TZ: "UTC", ARCHIVIST_TOKEN: TOKEN };
    return { cwd: this.project, env, maxBuffer: 64 * 1024 * 1024 };
  }

  /** Runs a command and answers with what it printed. */
  async cli(...args) {
    const { stdout } = await run(PROGRAM, ["--project", this.project, ...args], this.#options);
    return stdout;
  }

  async json(...args) {
    return JSON.parse(await this.cli(...args, "--json"));
  }

  /** Adds lines to a file of the memory, as somebody with an editor would who answers for them. */
  async append(file, ...records) {
    await appendFile(path.join(this.memory, file), records.map((record) => `${JSON.stringify(record)}\n`).join(""));
    await this.decide("trust", "--quiet");
  }

  /** Decides what takes a person at a terminal, as a script may that its owner allows to. */
  async decide(...args) {
    const settings = path.join(this.home, ".config", "archivist");
    await mkdir(settings, { recursive: true });
    await writeFile(path.join(settings, "config.toml"), "[decisions]\nwithoutTerminal = true\n");
    return this.cli(...args);
  }

  /** Starts the server, on a free port if none is named, and answers with its address. */
  async serve(port = 0) {
    this.server = spawn(PROGRAM, ["--project", this.project, "serve", "--port", String(port)], this.#options);
    let [said, complained] = ["", ""];
    this.server.stderr.on("data", (chunk) => {
      complained += chunk;
    });
    this.url = await new Promise((resolve, reject) => {
      this.server.stdout.on("data", (chunk) => {
        said += chunk;
        const found = /http:\/\/[\d.]+:\d+\//.exec(said);
        if (found) resolve(found[0]);
      });
      this.server.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${complained}`)));
    });
    return this.url;
  }

  async stop() {
    if (!this.server || this.server.exitCode !== null || this.server.signalCode !== null) return;
    const ended = new Promise((resolve) => this.server.once("exit", resolve));
    this.server.kill();
    await ended;
  }

  async remove() {
    await this.stop();
    await rm(this.directory, { recursive: true, force: true });
  }
}

/** A page that remembers every complaint and every address that it asked. */
export async function openPage(browser, world, { hash = "#/lessons", ...options } = {}) {
  const context = await browser.newContext({ timezoneId: "UTC", locale: "en-GB", viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.complaints = [];
  page.strangers = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) page.complaints.push(message.text());
  });
  page.on("pageerror", (error) => page.complaints.push(String(error)));
  page.on("dialog", (dialog) => {
    page.complaints.push(`a dialog said: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    const address = request.url();
    if (!address.startsWith(world.url) && !address.startsWith("data:")) page.strangers.push(address);
  });
  await page.goto(world.url + hash);
  await settled(page);
  return page;
}

/** Waits until the view is drawn and the stream of events is read. */
export async function settled(page) {
  await page.locator("#connection[data-is=live]").waitFor();
  await page.locator("#view .body > *:not(:empty)").first().waitFor();
  await page.waitForFunction(() => document.querySelector("#view .group, #view .lesson, #view .session, #view .card, #view .empty, #view .matrix, #view .tiles"));
}

/** Goes to another view of an open page. */
export async function visit(page, hash) {
  await page.evaluate((wanted) => {
    location.hash = wanted;
  }, hash);
  await page.waitForFunction((name) => document.querySelector(`#view .body.${name}`), /#\/(\w+)/.exec(hash)[1]);
  await settled(page);
}
