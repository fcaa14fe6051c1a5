// The pictures below the explorer: the tree of executions and the unfolding. Their layouts are those of `layout.js`.
"use strict";
globalThis.WhippetGraphs = (() => {
  const L = globalThis.WhippetLayout;
  const { draw } = globalThis.WhippetDiagram;
  const [TREE_ROW, TREE_COLUMN] = [20, 26];

  /// Draws a tree of executions. An end that fails is a square, one that passes a circle. `go(id)` goes to a node, or to
  /// the start if the id is `null`, and tells if it has arrived there.
  function tree(nodes, go) {
    const { items, rows, columns } = L.tree(nodes);
    const [width, height] = [columns * TREE_COLUMN + 420, Math.max(1, rows) * TREE_ROW + 10];
    const svg = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Tree of executions" });
    const at = (item) => [12 + item.column * TREE_COLUMN, 12 + item.row * TREE_ROW];
    const parts = items.filter((item) => item.parent >= 0).map((item) => {
      const [[x0, y0], [x1, y1]] = [at(items[item.parent]), at(item)];
      return draw("path", { class: "edge", d: `M${x0},${y0} C${x0 + 14},${y0} ${x0 + 4},${y1} ${x1},${y1}` });
    });
    for (const item of items) {
      const [x, y] = at(item);
      const text = item.id === null ? "the start" : nodes[item.id].text;
      const [kind, r] = item.end === null ? ["", 3.5] : item.end === "passes" ? ["passes", 5] : ["fails", 5];
      const shape = kind === "fails" ? draw("rect", { x: x - r, y: y - r, width: 2 * r, height: 2 * r }) : draw("circle", { cx: x, cy: y, r });
      shape.setAttribute("class", `node ${kind}`);
      shape.setAttribute("tabindex", "0");
      shape.setAttribute("role", "button");
      shape.setAttribute("aria-label", `${item.end ?? "fork"}: ${text}`);
      if (item.id !== null) shape.dataset.node = item.id;
      const title = draw("title", {});
      title.textContent = text;
      shape.append(title);
      const visit = () => go(item.id).then((arrived) => {
        if (!arrived) return;
        for (const other of svg.querySelectorAll(".here")) other.classList.remove("here");
        shape.classList.add("here");
      });
      shape.addEventListener("click", visit);
      shape.addEventListener("keydown", (key) => (key.key === "Enter" || key.key === " ") && (key.preventDefault(), key.stopPropagation(), visit()));
      parts.push(shape);
      if (item.end !== null) {
        const label = draw("text", { x: x + 10, y: y + 4, class: kind === "fails" ? "bad" : "" });
        label.textContent = `${item.end === "passes" ? "" : `${item.end}: `}${text}`.slice(0, 64);
        parts.push(label);
      }
    }
    svg.append(...parts);
    return svg;
  }

  /// Draws an unfolding: causes above their effects, and dashed lines between conflicting events.
  function unfolding(events) {
    const { places, layers, widest } = L.layers(events);
    const longest = Math.min(46, Math.max(1, ...events.map((event) => event.text.length)));
    const [H, BOX] = [58, Math.ceil(16 + longest * 6.8)];
    const W = BOX + 24;
    const svg = draw("svg", { width: widest * W + 20, height: layers * H + 20, viewBox: `0 0 ${widest * W + 20} ${layers * H + 20}`, role: "img", "aria-label": `${events.length} events in ${layers} layers` });
    const at = (id) => [10 + places[id].place * W, 10 + places[id].layer * H];
    events.forEach((event, id) => {
      const [x, y] = at(id);
      for (const cause of event.causes) {
        const [u, v] = at(cause);
        svg.append(draw("path", { class: "edge", d: `M${u + BOX / 2},${v + 30} L${x + BOX / 2},${y}` }));
      }
    });
    events.forEach((event, id) => {
      const [x, y] = at(id);
      const title = draw("title", {});
      title.textContent = event.text;
      const box = draw("rect", { x, y, width: BOX, height: 30, rx: 6 });
      const label = draw("text", { x: x + 8, y: y + 19 });
      label.textContent = event.text.length > longest ? `${event.text.slice(0, longest - 1)}…` : event.text;
      label.append(title);
      svg.append(box, label);
    });
    // Conflicts are drawn last: they run across boxes, unless these are neighbours.
    events.forEach((event, id) => {
      const [x, y] = at(id);
      for (const other of event.conflicts.filter((other) => other < id)) {
        const [u, v] = at(other);
        const beside = v === y && Math.abs(x - u) === W;
        const d = beside ? `M${Math.min(x, u) + BOX},${y + 15} L${Math.max(x, u)},${y + 15}`
          : `M${u + BOX / 2},${v + 30} Q${(u + x) / 2 + BOX / 2},${(v + y) / 2 + 60} ${x + BOX / 2},${y + 30}`;
        svg.append(draw("path", { class: "conflict", d }));
      }
    });
    return svg;
  }

  return { tree, unfolding };
})();
