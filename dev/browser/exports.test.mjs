// Checks what the exports promise to other tools: Graphviz renders the graph, and the other formats are read by small
// readers of their own, written from the descriptions of the formats.
import test, { before } from "node:test";
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { written } from "./common.mjs";

const NAMES = ["bank", "transfers", "ranks", "crowd", "counter", "stopped", "at-the-end"];
let directory;

before(() => (directory = written()));
const read = (name, ending) => readFileSync(join(directory, `${name}.${ending}`), "utf8");
const traceOf = (name) => JSON.parse(read(name, "json"));

/// Returns the ids of all events that happen before each event.
function pasts(trace) {
  const all = [];
  const last = new Map();
  trace.events.forEach((event, id) => {
    const past = new Set();
    for (const cause of [...(event.causes ?? []), ...(last.has(event.actor) ? [last.get(event.actor)] : [])]) {
      past.add(cause);
      for (const earlier of all[cause]) past.add(earlier);
    }
    last.set(event.actor, id);
    all.push(past);
  });
  return all;
}

test("ShiViz logs parse with the expression in their first line, and their clocks are happens-before", () => {
  for (const name of NAMES) {
    const [trace, log] = [traceOf(name), read(name, "shiviz")];
    const [expression, separator] = log.split("\n");
    assert.equal(separator, "", "there is one execution");
    const entries = [...log.matchAll(new RegExp(expression, "g"))].map(({ groups }) => ({ ...groups, clock: JSON.parse(groups.clock) }));
    assert.equal(entries.length, trace.events.length, name);
    const before = pasts(trace);
    const leq = (a, b) => Object.entries(a).every(([host, n]) => n <= (b[host] ?? 0));
    for (let k = 0; k < Math.min(entries.length, 60); k += 1) {
      assert.ok(entries[k].clock[entries[k].host] > 0, "an event counts in its own clock");
      for (let j = 0; j < k; j += 1) assert.equal(leq(entries[j].clock, entries[k].clock), before[k].has(j), `${name}: ${j + 1} before ${k + 1}`);
    }
  }
});

test("Graphviz renders every graph, with a node for each event", { skip: spawnSync("dot", ["-V"]).error && "Graphviz is not installed" }, () => {
  for (const name of NAMES) {
    const plain = execFileSync("dot", ["-Tplain"], { input: read(name, "dot"), encoding: "utf8", stdio: ["pipe", "pipe", "pipe"] });
    assert.equal(plain.split("\n").filter((line) => line.startsWith("node ")).length, traceOf(name).events.length, name);
  }
});

test("Mermaid diagrams follow the grammar of sequence diagrams", () => {
  const TEXT = "(?:[^;#]|#\\d+;)+";
  const LINES = [`participant (\\w+) as ${TEXT}`, `(\\w+)->>(\\w+): ${TEXT}`, `Note over (\\w+): ${TEXT}`].map((line) => new RegExp(`^ +${line}$`));
  for (const name of NAMES) {
    const [first, ...lines] = read(name, "mmd").trimEnd().split("\n");
    assert.equal(first, "sequenceDiagram");
    const known = new Set();
    for (const line of lines) {
      const [, ...names] = LINES.map((form) => form.exec(line)).find(Boolean) ?? assert.fail(`${name}: ${line}`);
      if (line.includes("participant")) known.add(names[0]);
      else for (const actor of names) assert.ok(known.has(actor), `${name}: ${actor} is declared`);
    }
    assert.equal(lines.length - known.size, traceOf(name).events.length, name);
  }
});

test("Perfetto traces have a named thread for each actor, slices that do not overlap, and flows that lead forward", () => {
  for (const name of NAMES) {
    const [trace, { traceEvents }] = [traceOf(name), JSON.parse(read(name, "trace"))];
    const of = (phase) => traceEvents.filter((event) => event.ph === phase);
    assert.ok(traceEvents.every(({ ph, pid, tid }) => "MXsf".includes(ph) && Number.isInteger(pid) && Number.isInteger(tid)), name);
    assert.deepEqual(of("M").map(({ name, args }) => [name, args.name]), trace.actors.map((actor) => ["thread_name", actor.name]));
    assert.equal(of("X").length, trace.events.length);
    const ends = new Map();
    for (const { tid, ts, dur, name: text } of of("X")) {
      assert.ok(ts >= (ends.get(tid) ?? 0) && dur > 0 && text !== "", name);
      ends.set(tid, ts + dur);
    }
    const slice = ({ tid, ts }) => of("X").some((slice) => slice.tid === tid && slice.ts <= ts && ts <= slice.ts + slice.dur);
    for (const start of of("s")) {
      const end = of("f").find((event) => event.id === start.id);
      assert.ok(end && end.ts >= start.ts && end.bp === "e" && slice(start) && slice(end), `${name}: flow ${start.id}`);
    }
  }
});
