// Opens reports of all kinds of programs in a browser: they load without errors, and can be stepped through.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Ajv from "ajv/dist/2020.js";
import { assertAccessible, launch, openPage, root, shots, target, written } from "./common.mjs";

const directory = mkdtempSync(join(tmpdir(), "whippet-pages-"));
let browser;

before(async () => (browser = await launch()));
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

/// Opens a report.
const open = (file, options) => openPage(browser, `file://${file}`, "#position:not(:empty)", options);

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
    const placed = trace.events.filter((event) => event.place ?? event.sent_at);
    assert.equal(placed.length, trace.events.length, "every event has a source position");
    assert.ok(trace.actors.every((actor) => /^\S+:\d+$/.test(actor.place)), "so has every actor");
    assert.ok((await page.locator("#detail pre .here").count()) > 0, "the source is shown");
    if (name === "abs") assert.ok(trace.events.some((event) => (event.touches ?? []).some((touch) => touch.access === "read" && /^Fork \d\.free$/.test(touch.object))), "reads of fields");
    assert.doesNotMatch(trace.replay, /--html|--trace/, "the replay writes no files");
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
  assert.deepEqual(await page.locator(".sides .badge").allTextContents(), ["first difference"]);
  await page.locator("#steps").focus();
  await page.keyboard.press("s");
  assert.match(await page.locator("#all-states").textContent(), /till 1.*Till.*warehouse.*apples: 1 → -1/s);
  await page.keyboard.press("Home");
  assert.match(await page.locator("#all-states").textContent(), /Warehouse \{ apples: 5 \}/, "it stays open, and shows the past");
  await page.keyboard.press("End");
  await page.keyboard.press("s");
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

const sizes = { light: {}, dark: { colorScheme: "dark" }, phone: { viewport: { width: 390, height: 844 }, hasTouch: true } };

/// Returns the lowest contrast between a text and the colour behind it, among all texts that are shown.
const contrast = () => {
  const parse = (color) => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const luminance = ([r, g, b]) => [r, g, b].map((c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4).reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color[3] > 0.99) return color;
    }
    return [255, 255, 255, 1];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let lowest = [21, ""];
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (walker.currentNode.textContent.trim() === "" || !element.checkVisibility() || element.closest("script, noscript, svg, :disabled")) continue;
    const [one, two] = [luminance(parse(getComputedStyle(element).color)), luminance(behind(element))];
    const ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    if (ratio < lowest[0]) lowest = [ratio, walker.currentNode.textContent];
  }
  return lowest;
};

/// Opens a report of `dev/pages` in all sizes, leaves a screenshot of each, and returns the first page and its trace.
async function report(name) {
  const trace = JSON.parse(readFileSync(join(written(), `${name}.json`), "utf8"));
  assert.ok(validate(trace), JSON.stringify(validate.errors));
  const file = join(written(), `${name}.html`);
  for (const [size, options] of Object.entries(sizes)) {
    const { page, errors } = await open(file, options);
    const width = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(width <= 0, `${name} does not scroll sideways (${size})`);
    const [ratio, text] = await page.evaluate(contrast);
    assert.ok(ratio >= 4.5, `${name} (${size}): contrast ${ratio.toFixed(2)} of «${text}»`);
    await page.screenshot({ path: `${shots}${name}-${size}.png`, fullPage: true });
    for (const key of ["w", "s", "?"]) await page.keyboard.press(key);
    await assertAccessible(page);
    assert.deepEqual(errors, []);
    await page.close();
  }
  return { trace, ...(await open(file)) };
}

test("the tokio bank: the tasks, their lines, and the race that decides", async () => {
  const { page, trace } = await report("bank");
  assert.match(await page.locator("h1").textContent(), /overdrawn: -60/);
  const why = await page.locator("#why").textContent();
  const [, second, first] = /If (.*) had come before (.*), all would hold/.exec(why);
  assert.match(second, /customer (\d) sends .*\(step \d\)/);
  assert.notEqual(second, first);
  assert.equal(await page.locator("#texts .badge.race").count(), 2, "both steps are marked");
  assert.ok(trace.actors.some((actor) => /dev\/pages\/src\/programs\.rs:\d+/.test(actor.place)), "tasks have source lines");
  assert.ok(trace.events.some((event) => (event.touches ?? []).length > 0), "events touch objects");
  await page.close();
});

test("a deadlock of tokio locks tells who holds what, and who waits for whom", async () => {
  const { page, trace } = await report("transfers");
  const names = trace.finding.cycle.map((id) => trace.actors[id].name).sort();
  assert.deepEqual(names, ["transfer 1", "transfer 2"]);
  assert.match(await page.locator("h1").textContent(), /2 actors wait for each other/);
  const why = await page.locator("#why").textContent();
  assert.match(why, /transfer 1 is blocked acquiring mutex \d .*held by transfer 2/);
  assert.match(why, /transfer 2 is blocked acquiring mutex \d .*held by transfer 1/);
  assert.ok((await page.locator(".waits rect.cycle").count()) === 2);
  await page.close();
});

test("a full channel: the sender waits for the receiver", async () => {
  const { page, trace } = await report("backpressure");
  const main = trace.finding.waits.find((wait) => trace.actors[wait.actor].name === "main");
  assert.deepEqual(main.for?.map((id) => trace.actors[id].name), ["task 1"]);
  await page.close();
});

test("an MPI deadlock: ranks and their pending messages", async () => {
  const { page, trace } = await report("ranks");
  assert.ok(trace.events.every((event) => /programs\.rs:\d+$/.test(event.place)), "events have source lines");
  assert.ok(trace.actors.every((actor) => /programs\.rs:\d+$/.test(actor.place)), "ranks have source lines");
  assert.match(await page.locator("#detail pre .here").textContent(), /mpi\.ssend/);
  assert.equal(trace.finding.kind, "deadlock");
  assert.match(await page.locator("#end").textContent(), /rank 0.*waits for its send/s);
  await page.close();
});

test("a livelock of 10,000 steps is folded, and unfolded with a key", async () => {
  const { page, trace } = await report("livelock");
  assert.ok(trace.events.length >= 9_990 && trace.repeats.length > 0, `${trace.events.length} events`);
  const before = await page.locator("#steps [role=option]").count();
  assert.ok(before < 20, `${before} rows`);
  assert.match(await page.locator("#texts").textContent(), /steps [\d,]+–[\d,]+ repeat the \d+ steps before/);
  await page.keyboard.press("Home");
  for (let k = 0; k < 8; k += 1) await page.keyboard.press("j");
  assert.equal(await page.locator("#steps [role=option]").count(), before, "stepping does not unfold it");
  await page.keyboard.press("Home");
  await page.keyboard.press("o");
  assert.ok((await page.locator("#steps [role=option]").count()) > before);
  await page.close();
});

/// Returns what is drawn of a trace: the rows in the document, those that the reader can see, and the marks.
const drawn = () => {
  const [view, names] = [document.getElementById("steps"), document.getElementById("lane-names")];
  const [top, bottom] = [names.getBoundingClientRect().bottom, view.getBoundingClientRect().top + view.clientTop + view.clientHeight];
  const at = document.getElementById("rows").getBoundingClientRect().top;
  const count = Math.round(document.getElementById("rows").offsetHeight / 30);
  const rows = [...document.querySelectorAll("#texts > [role=option]")].map((row) => Number(row.id.replace("step-", "")));
  const seen = Array.from({ length: count }, (_, k) => k).filter((k) => at + k * 30 < bottom && at + (k + 1) * 30 > top);
  const dot = document.querySelector(".dot.selected").getBoundingClientRect();
  const box = view.getBoundingClientRect();
  return {
    rows, seen, count, dots: document.querySelectorAll("#diagram .dot").length, lanes: document.querySelectorAll("#diagram .lane").length,
    names: names.children.length, arrows: document.querySelectorAll("#diagram .arrow").length,
    selectedInView: dot.left >= box.left + parseFloat(getComputedStyle(view).getPropertyValue("--label")) && dot.right <= box.right && dot.top >= box.top && dot.bottom <= box.bottom,
  };
};

test("200 actors fit on a page: exactly the rows in view and a margin of six are drawn", async () => {
  const { page, trace } = await report("crowd");
  const actors = new Set(trace.events.flatMap((event) => [event.actor, event.from]).filter((id) => id !== undefined));
  assert.equal(actors.size, 200, "199 workers and the collector act");
  await page.close();
  for (const options of Object.values(sizes)) {
    const { page } = await open(join(written(), "crowd.html"), options);
    for (const key of ["End", "Home", "PageDown", "PageDown", "PageDown", "PageDown", "End", "PageUp"]) {
      await page.keyboard.press(key);
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      const { rows, seen, count, dots, lanes, names, arrows, selectedInView } = await page.evaluate(drawn);
      assert.equal(count, trace.events.length);
      assert.deepEqual(rows, Array.from({ length: rows.length }, (_, k) => rows[0] + k), "the rows are consecutive");
      const [first, last] = [seen[0], seen.at(-1)];
      const margin = [first - rows[0], rows.at(-1) - last];
      // Above, the row of names covers some rows more.
      assert.ok(rows[0] === 0 || (margin[0] >= 6 && margin[0] <= 12), `${key}: ${margin[0]} rows above`);
      assert.ok(rows.at(-1) === count - 1 || (margin[1] >= 6 && margin[1] <= 12), `${key}: ${margin[1]} rows below`);
      assert.equal(dots, rows.length, "one mark for each row");
      assert.deepEqual([lanes, names], [200, 200], "each actor has a lane and a name");
      assert.ok(arrows > 0 && arrows <= 600, `${arrows} arrows`);
      assert.ok(selectedInView, `${key}: the selected mark can be seen`);
    }
    await page.close();
  }
  assert.ok(trace.events.some((event) => event.state?.after.name === "Collector"), "the collector's state is a tree");
});

test("a data race shows both accesses and their sources", async () => {
  const { page } = await report("counter");
  const accesses = page.locator(".accesses > div");
  assert.equal(await accesses.count(), 2);
  for (const k of [0, 1]) assert.match(await accesses.nth(k).locator(".here").textContent(), /inbox\.(read|write)\(total/);
  await page.close();
});

test("warnings have a page, and it tells which message was never received", async () => {
  const { page, trace } = await report("stopped");
  assert.ok(trace.finding.warning);
  assert.match(await page.locator("h1 .kind").textContent(), /^warning: undeliverable$/);
  assert.match(await page.locator("#why").textContent(), /door: "knock" from the test \(stopped\)/);
  await page.close();
});

test("a check at the end shows the refused messages and the states as trees", async () => {
  const { page, trace } = await report("at-the-end");
  assert.match(await page.locator("#why").textContent(), /account: Deposit\(\d\) from the test/);
  assert.match(await page.locator("#end").textContent(), /open: false/);
  assert.ok(trace.events.some((event) => event.state?.after.name === "Account"), "states are trees");
  await page.close();
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
