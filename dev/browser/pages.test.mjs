// Opens reports of all kinds of programs in a browser: they load without errors, and can be stepped through.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import Ajv from "ajv/dist/2020.js";

const root = new URL("../..", import.meta.url).pathname;
const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
const shots = new URL("shots/", import.meta.url).pathname;
const directory = mkdtempSync(join(tmpdir(), "whippet-pages-"));
let browser;

const ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];

before(async () => {
  mkdirSync(shots, { recursive: true });
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ARGUMENTS });
});
after(async () => {
  await browser.close();
  rmSync(directory, { recursive: true });
});

/// Runs `whippet explore`, which finds something, and returns its page and its trace.
function explore(name, ...words) {
  const [page, trace] = [join(directory, `${name}.html`), join(directory, `${name}.json`)];
  const run = () => execFileSync(join(target, "debug/whippet"), ["explore", ...words, "--html", page, "--trace", trace], { cwd: root });
  assert.throws(run, (error) => error.status === 1, "something is found: exit code 1");
  return { page, trace: JSON.parse(readFileSync(trace, "utf8")) };
}

/// Opens a page and returns it with the list of errors in its console.
async function open(file, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 }, ...options });
  const errors = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(error.message));
  await page.goto(`file://${file}`);
  await page.waitForSelector("#position:not(:empty)");
  return { page, errors };
}

const validate = new Ajv({ strict: false }).compile(JSON.parse(readFileSync(join(root, "docs/trace.schema.json"), "utf8")));

const PROGRAMS = {
  server: ["server", "--set", "assert=true"],
  philosophers: ["diningphil", "--first-bug"],
  mailboxes: ["examples/net/master-worker-deadlock.net"],
  abs: ["examples/abs/philosophers.abs"],
};

for (const [name, words] of Object.entries(PROGRAMS)) {
  test(`the report of ${name} loads, and its trace fits the schema`, async () => {
    const { page: file, trace } = explore(name, ...words);
    assert.ok(validate(trace), JSON.stringify(validate.errors));
    assert.ok(trace.events.length > 0 && trace.finding.message !== "");
    const { page, errors } = await open(file);
    const shown = await page.locator("#position").textContent();
    assert.match(shown, new RegExp(`/ ${trace.events.length}$`));
    await page.keyboard.press("Home");
    assert.match(await page.locator("#detail h2").textContent(), /^1\. /);
    if (trace.finding.kind === "deadlock") assert.ok((await page.locator(".waits rect").count()) > 0, "the wait-for graph");
    await page.keyboard.press("w");
    await page.screenshot({ path: `${shots}${name}.png`, fullPage: true });
    assert.deepEqual(errors, []);
    await page.close();
  });
}

test("a failing test writes a page that explains the finding", async () => {
  const output = spawn("debug/examples/inventory");
  const file = /look at it: (\S+\.html)/.exec(output)[1];
  const { page, errors } = await open(file);
  assert.match(await page.locator("h1").textContent(), /oversold: -1 apples left/);
  assert.match(await page.locator("#detail").textContent(), /apples/, "the change of the state");
  assert.match(await page.locator("#detail pre .here").textContent(), /cx\.send\(self\.warehouse, Stock::Take\(n\)\)/, "the source");
  assert.match(await page.locator("#why").textContent(), /had come before .* all would hold/);
  await page.getByRole("button", { name: "Compare with an execution that passes" }).click();
  assert.ok((await page.locator(".sides .differs").count()) >= 2);
  await page.screenshot({ path: `${shots}inventory.png`, fullPage: true });
  const race = await page.locator(".badge.race").count();
  assert.ok(race >= 2, "the race that decides is marked");
  assert.deepEqual(errors, []);
  await page.close();
  for (const [name, options] of [["dark", { colorScheme: "dark" }], ["phone", { viewport: { width: 390, height: 844 } }]]) {
    const { page } = await open(file, options);
    const width = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(width <= 0, `the page does not scroll sideways (${name})`);
    await page.screenshot({ path: `${shots}inventory-${name}.png`, fullPage: true });
    await page.close();
  }
});

/// Runs a program that finds something and returns its output.
function spawn(name) {
  try {
    return execFileSync(join(target, name), { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    return error.stdout + error.stderr;
  }
}

test("keys, search and filter work", async () => {
  const { page, errors } = await open(explore("keys", ...PROGRAMS.server).page);
  const position = async () => Number((await page.locator("#position").textContent()).split(" /")[0]);
  await page.keyboard.press("Home");
  await page.keyboard.press("j");
  assert.equal(await position(), 2);
  await page.keyboard.press("k");
  assert.equal(await position(), 1);
  await page.keyboard.press("/");
  await page.keyboard.type("server get");
  assert.match(await page.locator("#found").textContent(), /^[1-9]\d* match(es)?$/);
  await page.keyboard.press("Escape");
  await page.getByLabel("Show one actor").selectOption({ index: 1 });
  const all = await page.locator("#steps [role=option]").count();
  await page.keyboard.press("Escape");
  await page.locator("#steps").focus();
  await page.keyboard.press("Escape");
  assert.ok((await page.locator("#steps [role=option]").count()) >= all);
  assert.equal(await page.locator("#steps [role=option][aria-selected=true]").count(), 1);
  assert.deepEqual(errors, []);
  await page.close();
});

/// Writes a page with an invented trace, from the page of a real one.
function invented(name, trace) {
  const template = readFileSync(explore(`${name}-template`, ...PROGRAMS.server).page, "utf8");
  const data = JSON.stringify({ summary: "", traces: [trace] }).replaceAll("<", "\\u003c");
  const file = join(directory, `${name}.html`);
  writeFileSync(file, template.replace(/(<script type="application\/json" id="data">).*?(<\/script>)/s, (_, a, b) => a + data + b));
  return file;
}

test("5,000 events of 200 actors are usable within a second", async () => {
  const actors = Array.from({ length: 200 }, (_, k) => ({ name: `worker ${k}` }));
  const events = Array.from({ length: 5000 }, (_, k) => ({
    name: String(k), actor: (k * 7919) % 200, kind: "receive", text: `receives Message(${k})`,
    causes: k > 3 ? [k - 1 - (k % 3)] : [], ...(k > 3 ? { sent_by: k - 1 - (k % 3), from: ((k - 1 - (k % 3)) * 7919) % 200 } : {}),
  }));
  const trace = { format: "whippet trace", version: 1, program: { name: "many" }, schedule: {}, actors, events, finding: { kind: "panic", message: "boom", events: [4999] } };
  assert.ok(validate(trace), JSON.stringify(validate.errors));
  const { page, errors } = await open(invented("many", trace));
  const spent = await page.evaluate(async () => {
    const start = performance.now();
    for (let k = 0; k < 20; k += 1) dispatchEvent(new KeyboardEvent("keydown", { key: k % 2 ? "Home" : "PageDown", bubbles: true }));
    await new Promise(requestAnimationFrame);
    return performance.now() - start;
  });
  assert.ok(spent < 1000, `20 steps took ${spent} ms`);
  const loaded = await page.evaluate(() => performance.timing.domComplete - performance.timing.responseEnd);
  assert.ok(loaded < 1000, `loading took ${loaded} ms`);
  assert.ok((await page.locator("#steps [role=option]").count()) < 100, "only what is in view is drawn");
  await page.screenshot({ path: `${shots}many.png` });
  assert.deepEqual(errors, []);
  await page.close();
});

test("a long repetition is folded, and can be unfolded", async () => {
  const events = Array.from({ length: 10000 }, (_, k) => ({ name: String(k), actor: k % 2, kind: "receive", text: "receives Tick", causes: k > 0 ? [k - 1] : [] }));
  const trace = { format: "whippet trace", version: 1, program: { name: "loop" }, schedule: {}, actors: [{ name: "ping" }, { name: "pong" }], events,
    repeats: [{ first: 0, last: 9999, period: 2 }], finding: { kind: "limit", message: "10,000 steps", events: [] } };
  const { page, errors } = await open(invented("loop", trace));
  assert.equal(await page.locator("#steps [role=option]").count(), 3, "two steps and the fold");
  await page.screenshot({ path: `${shots}loop.png` });
  await page.getByText("steps 3–10,000 repeat the 2 steps before").click();
  assert.ok((await page.locator("#steps [role=option]").count()) > 10);
  assert.deepEqual(errors, []);
  await page.close();
});

test("the text of a program cannot become part of the page", async () => {
  const text = '</script><img src=x onerror="document.title=\'broken\'">';
  const trace = { format: "whippet trace", version: 1, program: { name: text }, schedule: {}, actors: [{ name: text }], events: [{ name: "0", actor: 0, kind: "receive", text, causes: [] }], finding: { kind: "panic", message: text, events: [0] } };
  const { page, errors } = await open(invented("markup", trace));
  assert.equal(await page.locator("img").count(), 0);
  assert.ok((await page.locator("h1").textContent()).includes(text));
  assert.deepEqual(errors, []);
  await page.close();
});
