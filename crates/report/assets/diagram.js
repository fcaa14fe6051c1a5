// The space-time diagram beside the list of steps: draws a trace with the layout of `layout.js`. The report and the
// explorer use it. Only the rows in view are in the document, so that long traces stay usable.
"use strict";
globalThis.WhippetDiagram = (() => {
  const L = globalThis.WhippetLayout;
  const [ROW, LANE, LEFT] = [30, 26, 16];
  /// The greatest width of the steps' text where the diagram is so wide that the text stays in place beside it.
  const LABEL = 380;
  const SVG = "http://www.w3.org/2000/svg";

  /// Creates an element with properties and children. Text is always set as text, never as markup.
  function make(tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name.startsWith("aria-") || name.startsWith("data-") || name === "role" || name === "for") element.setAttribute(name, value);
      else if (name === "style") element.style.cssText = value;
      else element[name] = value;
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }

  function draw(tag, attributes) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  }

  /// Returns the end of a long value: lists grow there.
  const clipped = (text) => (text.length > 40 ? `…${text.slice(-39)}` : text);

  /// Creates a diagram in these elements: `view` scrolls, `names` has the names of the lanes, `rows` contains `svg` and
  /// `texts`. `hooks.selected(id)` is called when the reader selects a step; `hooks.badges(id)` returns the marks of a
  /// step as `[kind, text]`, where `kind` is `bad` or `race`; a mark `[kind, text, title, action]` can be
  /// clicked.
  function create({ view, names, rows: area, svg, texts }, hooks) {
    let trace = { actors: [], events: [] };
    let rows = [], lanes = { lane: [], count: 0 }, arrows = [], index = L.index([], 0);
    let past = new Set(), matches = new Set(), open = new Set(), onlyActor = null, onlyType = null, aside = [], wide = false, label = LABEL, selected = -1;

    const actorName = (id) => (id === undefined || id === null ? "the test" : trace.actors[id].name);
    const x = (actor) => (wide ? label : 0) + LEFT + lanes.lane[actor] * LANE + LANE / 2;
    const y = (row) => row * ROW + ROW / 2;

    /// Computes the layout anew.
    function lay() {
      const keep = (event) => (onlyActor === null || event.actor === onlyActor || event.from === onlyActor) && (onlyType === null || L.type(event) === onlyType);
      rows = L.rows(trace, open, keep, onlyActor === null && onlyType === null ? aside : []);
      lanes = L.lanes(trace, rows);
      arrows = L.arrows(trace, rows);
      index = L.index(arrows, rows.length);
      wide = lanes.count * LANE > Math.max(260, view.clientWidth * 0.45);
      view.classList.toggle("wide", wide);
      // On a phone, the text leaves room for the lanes.
      label = Math.min(LABEL, Math.round(view.clientWidth * 0.55));
      view.style.setProperty("--label", `${label}px`);
      const side = LEFT * 2 + lanes.count * LANE;
      area.style.height = `${rows.length * ROW}px`;
      area.style.minWidth = `${side + 420}px`;
      const shown = trace.actors.map((actor, id) => [actor.name, id]).filter(([, id]) => lanes.lane[id] >= 0);
      const longest = Math.max(0, ...shown.map(([name]) => name.length));
      names.style.height = `${shown.length === 0 ? 0 : Math.min(130, 22 + longest * 4.6)}px`;
      names.style.width = `${side + 420}px`;
      names.replaceChildren(...shown.map(([name, id]) => make("span", { style: `left:${x(id) + 2}px`, title: name }, name)));
      render();
    }

    /// Draws the rows in view. Called on every scroll, so it touches only these.
    function render() {
      const top = Math.max(0, view.scrollTop - names.offsetHeight);
      const first = Math.max(0, Math.floor(top / ROW) - 6);
      const last = Math.min(rows.length - 1, Math.ceil((top + view.clientHeight) / ROW) + 6);
      const side = (wide ? label : 0) + LEFT * 2 + lanes.count * LANE;
      texts.replaceChildren(...rows.slice(first, last + 1).map((row, k) => line(row, first + k, side)));
      const height = Math.max(1, (last - first + 1) * ROW);
      svg.setAttribute("width", side);
      svg.style.clipPath = wide ? `inset(0 0 0 ${label + view.scrollLeft}px)` : "";
      svg.setAttribute("height", height);
      svg.style.top = `${first * ROW}px`;
      svg.setAttribute("viewBox", `0 ${first * ROW} ${side} ${height}`);
      const parts = [];
      for (let id = 0; id < trace.actors.length; id += 1) {
        if (lanes.lane[id] < 0) continue;
        parts.push(draw("line", { class: "lane", x1: x(id), x2: x(id), y1: first * ROW, y2: (last + 1) * ROW }));
      }
      for (const k of L.visible(arrows, index, first, last)) parts.push(...arrow(arrows[k]));
      for (let at = first; at <= last; at += 1) if (rows[at].event !== undefined) parts.push(dot(rows[at].event, at));
      svg.replaceChildren(...parts);
      const on = selected >= 0 ? actorName(trace.events[selected]?.actor) : null;
      for (const name of names.children) {
        name.classList.toggle("on", name.textContent === on);
        // A name belongs to a lane, which the text may cover.
        name.style.visibility = wide && parseFloat(name.style.left) < label + view.scrollLeft ? "hidden" : "";
      }
    }

    function arrow({ from, to, fromActor, toActor, message }) {
      if (lanes.lane[fromActor] < 0 || lanes.lane[toActor] < 0) return [];
      const [x0, y0, x1, y1] = [x(fromActor), y(from), x(toActor), y(to)];
      const lit = rows[to].event === selected || rows[from].event === selected;
      const kind = `${message ? "message" : "other"}${lit ? " lit" : ""}`;
      const bend = fromActor === toActor ? LANE * 0.8 : 0;
      const path = bend > 0
        ? `M${x0},${y0} C${x0 + bend},${y0 + 8} ${x1 + bend},${y1 - 8} ${x1 + 6},${y1 - 3}`
        : `M${x0},${y0} L${x1},${y1 - 7}`;
      const back = Math.atan2(y1 - 7 - y0, x1 - x0);
      const tip = [[0, 0], [-8, -4], [-8, 4]].map(([u, v]) => [
        x1 + u * Math.cos(back) - v * Math.sin(back), y1 - 6 + u * Math.sin(back) + v * Math.cos(back)].join(","));
      return [draw("path", { class: `arrow ${kind}`, d: path }), bend > 0 ? null : draw("polygon", { class: `head ${kind}`, points: tip.join(" ") })].filter(Boolean);
    }

    /// A mark whose shape says the kind of event: no meaning is carried by colour alone.
    function dot(id, at) {
      const event = trace.events[id];
      const state = [...hooks.badges(id).map(([kind]) => kind), id === selected ? "selected" : past.has(id) ? "past" : ""].join(" ");
      const [cx, cy, r] = [x(event.actor), y(at), 6];
      const polygon = (points) => draw("polygon", { class: `dot ${state}`, points: points.map(([u, v]) => `${cx + u * r},${cy + v * r}`).join(" ") });
      switch (event.kind) {
        case "send": return polygon([[-1, -1], [1.2, 0], [-1, 1]]);
        case "life": return polygon([[0, -1.2], [1.2, 0], [0, 1.2], [-1.2, 0]]);
        case "lock": case "unlock": return polygon([[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]]);
        case "timer": return polygon([[-1, -1], [1, -1], [-1, 1], [1, 1]]);
        default: return draw("circle", { class: `dot ${state}`, cx, cy, r });
      }
    }

    function line(row, at, side) {
      const style = `top:${at * ROW}px;padding-left:${side}px`;
      if (row.fold !== undefined) {
        const steps = `steps ${(row.first + 1).toLocaleString("en")}–${(row.last + 1).toLocaleString("en")}`;
        const text = row.period === undefined ? `${steps} do not lead to the finding: show` : `${steps} repeat the ${row.period === 1 ? "step" : `${row.period} steps`} before: show`;
        const element = make("div", { className: "step fold", style, role: "option", "aria-selected": "false" }, make("div", { className: "label" }, make("span", { className: "number" }, "⋯"), text));
        element.addEventListener("click", () => { open.add(row.fold); lay(); });
        return element;
      }
      const event = trace.events[row.event];
      const classes = ["step", row.event === selected ? "selected" : past.has(row.event) ? "past" : "", matches.has(row.event) ? "match" : ""];
      const badges = hooks.badges(row.event).map(badge);
      const element = make("div", {
        className: classes.join(" "), style, role: "option", id: `step-${row.event}`, "aria-selected": String(row.event === selected),
        "aria-setsize": String(trace.events.length), "aria-posinset": String(row.event + 1),
      },
        make("div", { className: "label" },
          make("span", { className: "number" }, `${row.event + 1}`),
          ...(wide ? badges : []),
          make("span", {}, make("span", { className: "who" }, actorName(event.actor)), ` ${event.text}`, event.from !== undefined && event.from !== null ? ` from ${actorName(event.from)}` : ""),
          ...(wide ? [] : event.changes || []).map((change) => make("span", { className: "change" }, `${change.field === "" ? "" : `${change.field}: `}${clipped(change.before)} → ${clipped(change.after)}`)),
          ...(wide ? [] : badges),
        ),
      );
      element.addEventListener("click", () => select(row.event));
      return element;
    }

    function badge([kind, text, title, action]) {
      if (!action) return make("span", { className: `badge ${kind}` }, text);
      // No button: an option of a list has none. The same action is beside the list.
      const mark = make("span", { className: `badge ${kind} acts`, title }, text);
      mark.addEventListener("click", (click) => { click.stopPropagation(); action(); });
      return mark;
    }

    /// Selects a step, and scrolls to it.
    function select(id, scroll = true) {
      if (trace.events.length === 0) return;
      selected = Math.max(0, Math.min(trace.events.length - 1, id));
      past = L.past(trace, selected);
      const at = rows.findIndex((row) => row.event === selected || (row.fold !== undefined && row.first <= selected && selected <= row.last));
      if (at >= 0 && rows[at].fold !== undefined) {
        open.add(rows[at].fold);
        lay();
        return select(selected, scroll);
      }
      if (scroll && at >= 0) {
        const head = names.offsetHeight;
        const [from, to] = [view.scrollTop, view.scrollTop + view.clientHeight - head];
        if (at * ROW < from) view.scrollTop = at * ROW;
        else if ((at + 1) * ROW > to) view.scrollTop = (at + 1) * ROW - (view.clientHeight - head);
        const lane = x(trace.events[selected].actor);
        if (wide && (lane - LANE - label < view.scrollLeft || lane + LANE > view.scrollLeft + view.clientWidth)) {
          view.scrollLeft = lane - (label + view.clientWidth) / 2;
        }
      }
      view.setAttribute("aria-activedescendant", `step-${selected}`);
      render();
      hooks.selected(selected);
    }

    let waiting = false;
    view.addEventListener("scroll", () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => { waiting = false; render(); });
    }, { passive: true });
    addEventListener("resize", () => lay());

    return {
      select,
      render,
      /// Selects the step `by` rows further on that is not folded away.
      move(by) {
        const shown = rows.filter((row) => row.event !== undefined).map((row) => row.event);
        const at = shown.findIndex((event) => event >= selected);
        select(shown[Math.max(0, Math.min(shown.length - 1, (at < 0 ? shown.length : at) + by))]);
      },
      /// Unfolds the first repetition after the selected step, or else the last one before it.
      unfold() {
        const folds = rows.filter((row) => row.fold !== undefined);
        const fold = folds.find((row) => row.first > selected) ?? folds.at(-1);
        if (!fold) return;
        open.add(fold.fold);
        lay();
        select(selected);
      },
      get selected() { return selected; },
      /// The last step that is not folded away, or -1.
      get lastShown() { return rows.findLast((row) => row.event !== undefined)?.event ?? -1; },
      /// Shows a trace; nothing is selected. What the reader has unfolded stays so if the trace is a continuation.
      show(next, { keepOpen = false, asides = [] } = {}) {
        trace = next;
        [aside, onlyType] = [asides, null];
        if (!keepOpen) open = new Set();
        [past, matches, onlyActor, selected] = [new Set(), new Set(), null, -1];
        view.removeAttribute("aria-activedescendant");
        lay();
      },
      /// Shows the steps of one actor and with one type of message; `null` means all.
      filter(actor, type = null) { [onlyActor, onlyType] = [actor, type]; lay(); },
      /// Marks steps as found by a search.
      mark(ids) { matches = new Set(ids); render(); },
    };
  }

  return { create, make, draw };
})();
