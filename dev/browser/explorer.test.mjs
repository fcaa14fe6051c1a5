// Walks through programs with `whippet serve` in a browser.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assertAccessible, launch, openPage, root, shots, target } from "./common.mjs";

const directory = mkdtempSync(join(tmpdir(), "whippet-explorer-"));
const servers = [];
let browser;

before(async () => (browser = await launch()));
after(async () => {
  await browser.close();
  for (const server of servers) server.kill("SIGINT");
  rmSync(directory, { recursive: true });
});

/// Starts `whippet serve` and returns its process and its address.
const serve = (...words) => start("debug/whippet", ["serve", ...words]);

/// Starts a program that prints the address of an explorer.
async function start(name, words, env = {}) {
  const server = spawn(join(target, name), words, { cwd: root, env: { ...process.env, ...env } });
  servers.push(server);
  let output = "";
  const address = await new Promise((resolve, reject) => {
    const hear = (data) => {
      output += data;
      const found = /open (http:\S+)\s/i.exec(output);
      if (found) resolve(found[1]);
    };
    server.stdout.on("data", hear);
    server.stderr.on("data", hear);
    server.on("exit", (code) => reject(new Error(`it ended with ${code}: ${output}`)));
  });
  return { server, address };
}

const open = (address, options) => openPage(browser, address, "#position:not(:empty)", options);
const steps = (page) => page.locator("#steps [role=option]").allTextContents();
const SERVER = ["server", "--set", "assert=true"];

/// Does something that leads to another configuration, and waits until it is shown.
async function move(page, action) {
  const before = await page.evaluate(() => location.hash);
  await action();
  await page.waitForFunction((before) => location.hash !== before && !document.body.hasAttribute("aria-busy"), before);
}

test("a reader takes choices, goes back, and returns by the browser's history", async () => {
  const { address } = await serve(...SERVER);
  const { page, errors } = await open(address);
  assert.match(await page.title(), /^Whippet: server$/);
  assert.equal((await steps(page)).length, 0);
  assert.match(await page.locator("#choices button").first().textContent(), /client receives Start.*sends Set\(5\) to server/);
  assert.match(await page.locator("#states").textContent(), /value: 0/);
  await move(page, () => page.locator("#choices button").first().click());
  assert.match((await steps(page))[0], /client receives Start/);
  const after = await page.locator("#choices button").count();
  assert.equal(after, 2, "the server can receive either message");
  await move(page, () => page.keyboard.press("1"));
  assert.match(await page.locator("#states").textContent(), /value: 0 → 5/);
  assert.match(await page.locator("#position").textContent(), /after 2 steps/);
  await move(page, () => page.keyboard.press("u"));
  assert.match(await page.locator("#position").textContent(), /after 1 step$/);
  await move(page, () => page.goBack());
  assert.match(await page.locator("#position").textContent(), /after 2 steps/);
  await move(page, () => page.getByRole("button", { name: "Run to the end" }).click());
  assert.match(await page.locator("#problems").textContent(), /nothing is wrong/);
  await page.screenshot({ path: `${shots}explorer-end.png`, fullPage: true });
  await page.keyboard.press("k");
  assert.equal(await page.locator("#steps [aria-selected=true]").count(), 1);
  await move(page, () => page.keyboard.press("Enter"));
  assert.match(await page.locator("#position").textContent(), /after 6 steps/);
  await move(page, () => page.keyboard.press("Home"));
  assert.match(await page.locator("#position").textContent(), /at the start/);
  assert.deepEqual(errors, []);
  await page.close();
});

test("a race is reversed by a click", async () => {
  const { address } = await serve(...SERVER);
  const { page, errors } = await open(address);
  await move(page, () => page.keyboard.press("e"));
  const [start, set, get] = await steps(page);
  assert.ok(/Start/.test(start) && /Set\(5\)/.test(set) && /Get/.test(get), "as the messages were sent");
  await move(page, () => page.getByTitle("What if step 3 came before step 2?").click());
  const [, second, third] = await steps(page);
  assert.ok(/Get/.test(second), `${second}, ${third}`);
  // The same by a key, and from the list of the selected step.
  const racing = page.locator("#detail button.race").first();
  await page.locator("#steps [role=option]", { has: page.locator(".badge.race") }).first().click();
  assert.match(await racing.textContent(), /What if this came before/);
  await move(page, () => page.keyboard.press("r"));
  await page.screenshot({ path: `${shots}explorer-reversed.png`, fullPage: true });
  assert.deepEqual(errors, []);
  await page.close();
});

test("the search tells its progress, and its findings and executions can be visited", async () => {
  const { address } = await serve(...SERVER);
  const { page, errors } = await open(address);
  await page.waitForFunction(() => /every order was covered/.test(document.getElementById("searching").textContent));
  assert.match(await page.locator("#searching").textContent(), /^4 executions · 1 finding/);
  await move(page, () => page.locator("#findings button").first().click());
  assert.match(await page.locator("#problems").textContent(), /assertion: .*inconsistent read/);
  assert.equal(await page.locator("#steps .badge.bad").count(), 1);
  await page.getByRole("tab", { name: "Executions" }).click();
  assert.equal(await page.locator("#tree .node.passes, #tree .node.fails").count(), 4);
  await page.screenshot({ path: `${shots}explorer-finding.png`, fullPage: true });
  await move(page, () => page.locator("#tree .node.passes").first().click());
  assert.match(await page.locator("#problems").textContent(), /nothing is wrong/);
  assert.equal(await page.locator("#tree .here").count(), 1);
  await page.keyboard.press("Tab");
  await page.getByRole("tab", { name: "Executions" }).focus();
  await page.keyboard.press("ArrowRight");
  await page.waitForSelector("#unfolding rect");
  assert.equal(await page.locator("#unfolding rect").count(), 17);
  assert.deepEqual(errors, []);
  await page.close();
});

test("an address can be shared, and a schedule saved and opened", async () => {
  const { address } = await serve(...SERVER);
  const { page, errors } = await open(address);
  await page.waitForSelector("#findings button");
  await move(page, () => page.locator("#findings button").first().click());
  const shared = page.url();
  const download = async (name) => {
    const waiting = page.waitForEvent("download");
    await page.getByRole("button", { name }).click();
    const file = join(directory, `saved-${name}`);
    await (await waiting).saveAs(file);
    return file;
  };
  const schedule = JSON.parse(readFileSync(await download("Schedule"), "utf8"));
  assert.deepEqual([schedule.program, schedule.settings.assert], ["server", "true"]);
  assert.match(readFileSync(await download("Report"), "utf8"), /inconsistent read/);
  const { page: other, errors: more } = await open(shared);
  assert.match(await other.locator("#problems").textContent(), /inconsistent read/);
  await move(other, () => other.keyboard.press("Home"));
  const file = join(directory, "schedule.json");
  writeFileSync(file, JSON.stringify(schedule));
  await move(other, () => other.locator("#upload").setInputFiles(file));
  assert.match(await other.locator("#problems").textContent(), /inconsistent read/);
  writeFileSync(file, "{}");
  await other.locator("#upload").setInputFiles(file);
  await other.waitForSelector("#message:not([hidden])");
  assert.match(await other.locator("#message").textContent(), /schedule/);
  await page.goto(`${shared.replace(/&e=.*/, "&e=0")}`);
  await page.waitForSelector("#message:not([hidden])");
  assert.match(await page.locator("#message").textContent(), /The program has changed/);
  assert.deepEqual(errors, []);
  assert.deepEqual(more.filter((text) => !/status of 400/.test(text)), [], "but for the schedule that is none");
  await page.close();
  await other.close();
});

test("nobody without the token is served", async () => {
  const { address } = await serve(...SERVER);
  const { origin } = new URL(address);
  for (const path of ["/", "/at", `/${"0".repeat(32)}/`]) assert.equal((await fetch(origin + path)).status, 403, path);
  assert.equal((await fetch(address)).status, 200);
  const headers = { Origin: "http://evil.example" };
  assert.equal((await fetch(`${address}at`, { method: "POST", body: "{}", headers })).status, 403);
  assert.match((await fetch(address)).headers.get("content-security-policy"), /default-src 'none'/);
});

test("5,000 steps are usable within a second", async () => {
  // Two processes that take turns: 5,000 steps.
  const file = join(directory, "long.net");
  writeFileSync(file, `a: ${"S0 ".repeat(1250)}${"W0 ".repeat(0)}${"Km Um ".repeat(625)}\nb: ${"R0 ".repeat(1250)}${"Kn Un ".repeat(625)}\n`);
  const { address } = await serve(file, "--limit-executions", "1");
  const { page, errors } = await open(address);
  await move(page, () => page.keyboard.press("e"));
  assert.match(await page.locator("#position").textContent(), /after 5,000 steps/);
  const spent = await page.evaluate(async () => {
    const times = {};
    const moved = async (name, key) => {
      const [start, before] = [performance.now(), location.hash];
      dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      while (location.hash === before) await new Promise((done) => setTimeout(done, 1));
      await new Promise(requestAnimationFrame);
      times[name] = Math.round(performance.now() - start);
    };
    await moved("undo", "u");
    await moved("take", "1");
    const start = performance.now();
    for (let k = 0; k < 20; k += 1) dispatchEvent(new KeyboardEvent("keydown", { key: k % 2 ? "j" : "k", bubbles: true }));
    await new Promise(requestAnimationFrame);
    times.select = Math.round(performance.now() - start);
    return times;
  });
  console.log("5,000 steps, milliseconds:", spent);
  for (const [what, time] of Object.entries(spent)) assert.ok(time < 1000, `${what} took ${time} ms`);
  assert.ok((await page.locator("#steps [role=option]").count()) < 100, "only what is in view is drawn");
  assert.deepEqual(errors, []);
  await page.close();
});

test("the page is usable in the dark and on a phone", async () => {
  const { address } = await serve("examples/net/master-worker-deadlock.net");
  for (const [name, options] of [["dark", { colorScheme: "dark", bypassCSP: true }], ["phone", { viewport: { width: 390, height: 844 }, bypassCSP: true }]]) {
    const { page, errors } = await open(address, options);
    await move(page, () => page.keyboard.press("e"));
    const width = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(width <= 0, `the page does not scroll sideways (${name})`);
    await page.screenshot({ path: `${shots}explorer-${name}.png`, fullPage: true });
    for (const tab of ["Findings", "Executions", "Unfolding"]) {
      await page.getByRole("tab", { name: tab }).click();
      await assertAccessible(page);
    }
    assert.deepEqual(errors, []);
    await page.close();
  }
});

test("a test of the user's is served if WHIPPET_SERVE is set", async () => {
  const { address } = await start("debug/examples/inventory", [], { WHIPPET_SERVE: "1" });
  const { page, errors } = await open(address);
  await page.waitForSelector("#findings button");
  await move(page, () => page.locator("#findings button").first().click());
  assert.match(await page.locator("#problems").textContent(), /oversold: -1 apples left/);
  assert.match(await page.locator("#states").textContent(), /apples: 5 → -1/);
  await page.screenshot({ path: `${shots}explorer-inventory.png`, fullPage: true });
  assert.deepEqual(errors, []);
  await page.close();
});

test("a tokio program is walked like the others", async () => {
  const { address } = await start("debug/whippet-pages", ["serve", "transfers"]);
  const { page, errors } = await open(address);
  await page.waitForSelector("#findings button");
  await move(page, () => page.locator("#findings button").first().click());
  assert.match(await page.locator("#problems").textContent(), /deadlock/);
  assert.match(await page.locator("#states").textContent(), /transfer 1.*held by transfer 2/s);
  await move(page, () => page.keyboard.press("u"));
  assert.ok((await page.locator("#choices button").count()) > 0);
  await page.screenshot({ path: `${shots}explorer-tokio.png`, fullPage: true });
  assert.deepEqual(errors, []);
  await page.close();
});

test("an ABS program shows the states of its objects", async () => {
  const { address } = await serve("examples/abs/bank.abs");
  const { page, errors } = await open(address);
  await move(page, () => page.keyboard.press("e"));
  assert.ok((await page.locator("#states .value").count()) > 0);
  await page.screenshot({ path: `${shots}explorer-abs.png`, fullPage: true });
  assert.deepEqual(errors, []);
  await page.close();
});

test("Ctrl-C ends it, and wrong use is explained", async () => {
  const { server, address } = await serve(...SERVER);
  const again = spawn(join(target, "debug/whippet"), ["serve", "server", "--port", new URL(address).port], { cwd: root });
  const ended = (child) => new Promise((resolve) => {
    let text = "";
    child.stderr.on("data", (data) => (text += data));
    child.on("exit", (code) => resolve([code, text]));
  });
  const [code, text] = await ended(again);
  assert.equal(code, 2);
  assert.match(text, /port \d+ is in use: choose another one/);
  const unknown = await ended(spawn(join(target, "debug/whippet"), ["serve", "sever"], { cwd: root }));
  assert.ok(unknown[0] === 2 && /Did you mean `server`\?\n  known: /.test(unknown[1]), unknown[1]);
  server.kill("SIGINT");
  assert.deepEqual(await ended(server), [0, ""]);
});
