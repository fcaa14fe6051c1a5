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

test("runs of events that the finding does not depend on are folded", () => {
  const t = trace([event(0), event(1), event(1, [1]), event(0, [0]), event(2), event(0, [3])]);
  const runs = L.asides(t, [5]);
  assert.deepEqual(runs, [{ first: 1, last: 2 }], "one event alone is not folded");
  assert.deepEqual(L.rows(t, new Set(), undefined, runs).map((row) => row.event ?? row.fold), [0, "aside0", 3, 4, 5]);
  assert.equal(L.rows(t, new Set(["aside0"]), undefined, runs).length, 6);
  assert.deepEqual(L.asides(t, []), [], "without an event that shows the finding, nothing is folded");
  assert.deepEqual(L.asides(t, [2, 5]), [], "several events may show it");
});

test("the type of an event is that of its message, or else its kind", () => {
  assert.equal(L.type(event(0, [], { message: { type: "Take", text: "Take(4)" } })), "Take");
  assert.equal(L.type(event(0, [], { message: { text: "4" } })), "step");
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

test("steps that read differently are not the same, whatever their names", () => {
  const one = [{ name: "a", text: "requests" }], other = [{ name: "a", text: "acquires" }];
  assert.deepEqual(L.align(one, other), [[0, null], [null, 0]]);
  assert.deepEqual(L.align(one, one), [[0, 0]]);
});

test("long runs of a comparison are cut short, in the middle or at the end", () => {
  const both = (from, n) => Array.from({ length: n }, (_, k) => [from + k, from + k]);
  const onlyRight = (n) => Array.from({ length: n }, (_, k) => [null, k]);
  const shown = (pairs, from) => L.clipped(pairs, from).map((row) => row.at ?? [row.left, row.right, row.common]);
  assert.deepEqual(shown([...both(0, 2), ...onlyRight(30)], 1), [1, 2, 3, 4, 5, [0, 26, false]]);
  assert.deepEqual(shown([...onlyRight(1), ...both(0, 20), ...onlyRight(1)], 0), [0, 1, 2, 3, 4, [12, 12, true], 17, 18, 19, 20, 21]);
  assert.deepEqual(shown(both(0, 9), 0), [0, 1, 2, 3, 4, 5, 6, 7, 8], "one step takes no more space than its fold");
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

test("a tree keeps forks and ends; an end has a row of its own, a fork is between its ends", () => {
  const node = (parent, end = null) => ({ parent, text: "acts", end });
  // 0-1 is a chain that forks into 2-3 and 4.
  const { items, rows, columns } = L.tree([node(null), node(0), node(1), node(2, "passes"), node(1, "panic")]);
  assert.deepEqual(items, [
    { id: 1, parent: -1, column: 0, row: 0.5, end: null },
    { id: 3, parent: 0, column: 1, row: 0, end: "passes" },
    { id: 4, parent: 0, column: 1, row: 1, end: "panic" },
  ]);
  assert.deepEqual([rows, columns], [2, 2]);
  const two = L.tree([node(null, "passes"), node(null, "passes")]);
  assert.deepEqual(two.items.map(({ id, parent }) => [id, parent]), [[null, -1], [0, 0], [1, 0]], "the start is a fork");
  assert.deepEqual(L.tree([]), { items: [], rows: 0, columns: 1 });
  const long = Array.from({ length: 50000 }, (_, k) => node(k === 0 ? null : k - 1, k === 49999 ? "passes" : null));
  assert.equal(L.tree(long).items.length, 1);
});

test("an event is below all its causes, and beside those with neighbouring causes", () => {
  const events = [[], [], [1], [0], [2, 3]].map((causes) => ({ causes }));
  const { places, layers, widest } = L.layers(events);
  assert.deepEqual(places.map(({ layer }) => layer), [0, 0, 1, 1, 2]);
  assert.deepEqual(places.map(({ place }) => place), [0, 1, 1, 0, 0]);
  assert.deepEqual([layers, widest], [3, 2]);
});
