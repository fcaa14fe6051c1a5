// Values as trees, and the differences between two of them: pure functions, tested in Node, and their display.
//
// A value is text, a list, `{ name, fields }`, `{ name, items }`, `{ entries }` or `{ set }`, as in the trace format.
"use strict";
globalThis.WhippetValues = (() => {
  /// Returns a value as `{:?}` writes it.
  function text(value) {
    if (typeof value === "string") return value;
    if (Array.isArray(value)) return `[${value.map(text).join(", ")}]`;
    if (value.fields) {
      const fields = value.fields.map(([name, field]) => `${name}: ${text(field)}`);
      return `${value.name} { ${[...fields, ...(value.more ? [".."] : [])].join(", ")} }`;
    }
    if (value.items) return `${value.name}(${value.items.map(text).join(", ")}${value.name === "" && value.items.length === 1 ? "," : ""})`;
    if (value.entries) return `{${value.entries.map(([key, entry]) => `${text(key)}: ${text(entry)}`).join(", ")}}`;
    return `{${value.set.map(text).join(", ")}}`;
  }

  /// Returns the parts of a value as `[key, value]`; text has none.
  function parts(value) {
    if (typeof value === "string") return [];
    if (Array.isArray(value)) return value.map((item, k) => [String(k), item]);
    if (value.fields) return value.fields;
    if (value.items) return value.items.map((item, k) => [String(k), item]);
    if (value.entries) return value.entries.map(([key, entry]) => [text(key), entry]);
    return value.set.map((item) => [text(item), item]);
  }

  /// Returns the constructor of a value. Values with different ones have no parts in common.
  function shape(value) {
    if (typeof value === "string") return "text";
    if (Array.isArray(value)) return "list";
    if (value.fields) return `struct ${value.name}`;
    if (value.items) return `tuple ${value.name} ${value.items.length}`;
    return value.entries ? "map" : "set";
  }

  /// Returns a tree of `{ key, value, was, mark, children }` that shows how `after` differs from `before`, which may be
  /// `undefined` for a value that is shown alone. `mark` is "", "changed" (here or below), "added" or "removed".
  function diff(before, after, key = "") {
    if (before === undefined || after === undefined) {
      const value = after ?? before;
      return { key, value, mark: "", children: parts(value).map(([name, part]) => diff(undefined, part, name)) };
    }
    const [was, is] = [text(before), text(after)];
    if (was === is) return diff(undefined, after, key);
    if (shape(before) !== shape(after) || shape(after) === "text") {
      return { ...diff(undefined, after, key), mark: "changed", was };
    }
    const old = new Map(parts(before));
    const now = new Map(parts(after));
    const children = parts(after).map(([name, part]) =>
      old.has(name) ? diff(old.get(name), part, name) : { ...diff(undefined, part, name), mark: "added" });
    for (const [name, part] of old) if (!now.has(name)) children.push({ ...diff(undefined, part, name), mark: "removed" });
    return { key, value: after, mark: "changed", children };
  }

  /// Short values are shown on one line, with their parts only on demand.
  const SHORT = 48;

  /// Returns an element that shows a tree. Everything that changed is open; marks have a sign, not only a colour.
  function show(tree, make = globalThis.WhippetDiagram.make, depth = 0) {
    const whole = text(tree.value);
    const name = tree.key === "" ? null : make("span", { className: "key" }, `${tree.key}: `);
    const sign = { added: "+ ", removed: "− ", changed: "", "": "" }[tree.mark];
    const leaf = tree.children.length === 0 || (whole.length <= SHORT && !tree.children.some((child) => child.mark !== ""));
    const classes = `value ${tree.mark}`;
    if (leaf) {
      const was = tree.was === undefined ? null : make("s", { title: "before" }, clipped(tree.was));
      return make("div", { className: classes }, sign, name, was, was ? " → " : null, make("span", {}, clipped(whole)));
    }
    const element = make("details", { className: classes, open: tree.mark !== "" || depth === 0 },
      make("summary", {}, sign, name, tree.was === undefined ? null : make("s", { title: "before" }, clipped(tree.was)), heading(tree)));
    for (const child of tree.children.slice(0, 200)) element.append(show(child, make, depth + 1));
    if (tree.children.length > 200) element.append(make("div", { className: "value" }, `… ${tree.children.length - 200} more`));
    return element;
  }

  const clipped = (line) => (line.length > 400 ? `${line.slice(0, 399)}…` : line);

  /// Returns the line above the parts of a value.
  function heading({ value, children }) {
    if (Array.isArray(value)) return `[${children.length}]`;
    if (value.name) return value.name;
    return value.entries || value.set ? `{${children.length}}` : "()";
  }

  return { text, diff, show };
})();
