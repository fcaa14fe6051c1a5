// Tests of the diagram's layout: `node --test dev/browser/`.
import test from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import vm from "node:vm";

vm.runInThisContext(readFileSync(new URL("../../crates/report/assets/layout.js", import.meta.url), "utf8"));
const L = globalThis.WhippetLayout;

const event = (actor, causes = [], more = {}) => ({ actor, causes, text: "acts", kind: "step", ...more });
const trace = (events, more = {}) => ({
  actors: [0, 1, 2].map((id) => ({ id, name: `actor ${id}` })), events, ...more,
});

test("each event is a row, and a repetition is folded after its first round", () => {
  const events = Array.from({ length: 10 }, () => event(0));
  const folded = trace(events, { repeats: [{ first: 2, last: 7, period: 2 }] });
  const shown = L.rows(folded);
  assert.deepEqual(shown.map((row) => row.event ?? "fold"), [0, 1, 2, 3, "fold", 8, 9]);
  assert.deepEqual(shown[4], { fold: 0, first: 4, last: 7, period: 2 });
  assert.equal(L.rows(folded, new Set([0])).length, 10);
  assert.deepEqual(L.rows(trace(events), new Set(), (e) => e === events[3]), [{ event: 3 }]);
});

test("lanes are in the order of first appearance; a sender without an event has one", () => {
  const t = trace([event(2, [], { from: 1 }), event(0)]);
  assert.deepEqual(L.lanes(t, L.rows(t)), { lane: [2, 0, 1], count: 3 });
  assert.deepEqual(L.lanes(t, [{ event: 1 }]), { lane: [0, -1, -1], count: 1 });
});

test("arrows lead from causes; the order of one lane needs none", () => {
  const t = trace([event(0), event(1, [0], { sent_by: 0 }), event(1, [1]), event(0, [2])]);
  assert.deepEqual(L.arrows(t, L.rows(t)), [
    { from: 0, to: 1, fromActor: 0, toActor: 1, message: true },
    { from: 2, to: 3, fromActor: 1, toActor: 0, message: false },
  ]);
});

test("an arrow from a folded event starts at the fold", () => {
  const t = trace([event(0), event(0), event(0), event(1, [2])], { repeats: [{ first: 0, last: 2, period: 1 }] });
  assert.deepEqual(L.arrows(t, L.rows(t)).map(({ from, to }) => [from, to]), [[1, 2]]);
});

test("a window of a long trace looks at few arrows, and finds those that end in it", () => {
  const many = Array.from({ length: 5000 }, (_, k) => ({ from: Math.max(0, k - 3), to: k }));
  const found = L.visible(many, L.index(many, 5000), 2000, 2040);
  assert.ok(found.length >= 41 && found.length < 60, String(found.length));
  assert.ok(found.includes(2000) && found.includes(2040) && !found.includes(100));
  const long = [{ from: 0, to: 4999 }];
  assert.deepEqual(L.visible(long, L.index(long, 5000), 4990, 4999), [0]);
});

test("at most so many arrows are drawn, and those that end in the window come first", () => {
  const crossing = Array.from({ length: 50 }, () => ({ from: 0, to: 200 }));
  const all = [...crossing, { from: 90, to: 91 }];
  assert.deepEqual(L.visible(all, L.index(all, 201), 80, 100, 1), [50]);
});

test("the past of an event follows causes transitively", () => {
  const t = trace([event(0), event(1), event(0, [0]), event(1, [2])]);
  assert.deepEqual([...L.past(t, 3)].sort(), [0, 2, 3]);
});

test("executions are lined up by the names of their events", () => {
  const names = (text) => [...text].map((name) => ({ name }));
  const pairs = L.align(names("abcd"), names("acbd"));
  assert.deepEqual(pairs, [[0, 0], [1, null], [2, 1], [null, 2], [3, 3]]);
  assert.equal(L.firstDifference(pairs), 1);
  assert.equal(L.firstDifference(L.align(names("ab"), names("ab"))), -1);
  assert.deepEqual(L.align([], names("a")), [[null, 0]]);
});

test("a search looks at actors, messages and effects, and wants every word", () => {
  const t = trace([
    event(0, [], { message: { type: "Take", text: "Take(4)" } }),
    event(1, [], { effects: [{ text: "sends Take(4) to actor 0" }] }),
  ]);
  assert.deepEqual(L.matches(t, "take(4)"), [0, 1]);
  assert.deepEqual(L.matches(t, "take sends"), [1]);
  assert.deepEqual(L.matches(t, "  "), []);
});
