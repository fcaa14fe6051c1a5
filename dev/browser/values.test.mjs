// Tests the trees of values and their differences, without a browser.
import test from "node:test";
import assert from "node:assert/strict";
import "../../crates/report/assets/values.js";

const V = globalThis.WhippetValues;
const struct = (name, fields) => ({ name, fields: Object.entries(fields) });

/// Returns the marks of a tree: `[key, mark, was]` for every part that differs.
const marks = (tree, path = "") => [
  ...(tree.mark === "" ? [] : [[path + tree.key, tree.mark, ...(tree.was === undefined ? [] : [tree.was])]]),
  ...tree.children.flatMap((child) => marks(child, tree.key === "" ? "" : `${path}${tree.key}.`)),
];

test("a value is written as Debug writes it", () => {
  const value = struct("Shop", { open: "true", stock: { entries: [['"apple"', "5"]] }, last: { name: "Some", items: [["1", "2"]] }, ids: { set: ["1", "2"] }, one: { name: "", items: ["1"] } });
  assert.equal(V.text(value), 'Shop { open: true, stock: {"apple": 5}, last: Some([1, 2]), ids: {1, 2}, one: (1,) }');
  assert.equal(V.text({ name: "Hidden", fields: [], more: true }), "Hidden { .. }");
});

test("only the parts that differ are marked, and those above them", () => {
  const before = struct("Till", { cash: "5", owner: struct("Owner", { name: '"Ann"' }) });
  const after = struct("Till", { cash: "3", owner: struct("Owner", { name: '"Ann"' }) });
  assert.deepEqual(marks(V.diff(before, after)), [["", "changed"], ["cash", "changed", "5"]]);
  assert.deepEqual(marks(V.diff(after, after)), []);
  assert.deepEqual(marks(V.diff(undefined, after)), []);
});

test("entries are compared by their keys, items by their places", () => {
  const map = (...entries) => ({ entries });
  assert.deepEqual(marks(V.diff(map(["a", "1"], ["b", "2"]), map(["b", "2"], ["c", "3"]))), [["", "changed"], ["c", "added"], ["a", "removed"]]);
  assert.deepEqual(marks(V.diff(["1", "2"], ["1", "3", "4"])), [["", "changed"], ["1", "changed", "2"], ["2", "added"]]);
  assert.deepEqual(marks(V.diff({ set: ["1", "2"] }, { set: ["2"] })), [["", "changed"], ["1", "removed"]]);
});

test("values of different shapes are shown one after the other", () => {
  const tree = V.diff(struct("Open", { by: "1" }), "Closed");
  assert.deepEqual([tree.mark, tree.was, tree.value], ["changed", "Open { by: 1 }", "Closed"]);
});
