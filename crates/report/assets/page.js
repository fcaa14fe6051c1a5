// The report page: draws the traces in `#data` and lets a reader step through them.
"use strict";
(() => {
  const L = globalThis.WhippetLayout;
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const [ROW, LANE, LEFT] = [30, 26, 16];
  /// The width of the steps' text where the diagram is so wide that the text stays in place beside it.
  const LABEL = 380;
  const SVG = "http://www.w3.org/2000/svg";

  /// What the reader sees: the trace, the selected event and the filters.
  let trace, rows, lanes, arrows, index, past, matches, bad, race;
  let wide = false, selected = 0, open = new Set(), onlyActor = null, showPassing = false;

  /// Creates an element with properties and children. Text is always set as text, never as markup.
  function make(tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name.startsWith("aria-") || name === "role" || name === "for") element.setAttribute(name, value);
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

  const count = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
  const actorName = (id) => (id === undefined || id === null ? "the test" : trace.actors[id].name);

  // ---- the head ------------------------------------------------------------------------------------------------

  function head() {
    const { finding, program } = trace;
    const [first, ...rest] = finding.message.split("\n");
    const kind = make("span", { className: finding.kind === "none" ? "kind ok" : "kind" }, finding.kind === "none" ? "execution" : finding.kind);
    // The waits of a deadlock are shown below, one by one.
    const title = make("h1", {}, kind, " ", (finding.waits || []).length > 0 ? first.split(": ")[0] : first);
    const where = [program.name, ...Object.entries(program.parameters || {}).map(([name, value]) => `${name}=${value}`)];
    if (finding.place) where.push(finding.place);
    if (finding.needs) where.push(finding.needs);
    if (data.summary) where.push(data.summary);
    $("head").replaceChildren(
      title,
      rest.length > 0 && !finding.waits?.length ? make("pre", {}, rest.join("\n")) : "",
      make("p", {}, where.join(" · ")),
      trace.replay ? replay(trace.replay) : "",
    );
  }

  function replay(command) {
    const button = make("button", { title: "Copy the command that replays this" }, "Copy");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(command);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Select it by hand";
      }
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
    return make("div", { className: "replay" }, make("code", { tabIndex: 0 }, command), button);
  }

  function tabs() {
    $("tabs").hidden = data.traces.length < 2;
    $("tabs").replaceChildren(...data.traces.map((each, k) => {
      const name = `${k + 1}. ${each.finding.kind}: ${each.finding.message.split("\n")[0]}`;
      const tab = make("button", { "aria-pressed": String(each === trace), title: name }, name.length > 60 ? name.slice(0, 59) + "…" : name);
      tab.addEventListener("click", () => show(k));
      return tab;
    }));
  }

  // ---- the steps and the diagram -------------------------------------------------------------------------------

  function lay() {
    rows = L.rows(trace, open, onlyActor === null ? undefined : (event) => event.actor === onlyActor || event.from === onlyActor);
    lanes = L.lanes(trace, rows);
    arrows = L.arrows(trace, rows);
    index = L.index(arrows, rows.length);
    wide = lanes.count * LANE > Math.max(260, $("steps").clientWidth * 0.45);
    $("steps").classList.toggle("wide", wide);
    $("steps").style.setProperty("--label", `${LABEL}px`);
    const side = LEFT * 2 + lanes.count * LANE;
    $("rows").style.height = `${rows.length * ROW}px`;
    $("rows").style.minWidth = `${side + 420}px`;
    const longest = Math.max(0, ...trace.actors.filter((actor) => lanes.lane[actor.id] >= 0).map((actor) => actor.name.length));
    $("lane-names").style.height = `${Math.min(130, 22 + longest * 4.6)}px`;
    $("lane-names").style.width = `${side + 420}px`;
    $("lane-names").replaceChildren(...trace.actors.filter((actor) => lanes.lane[actor.id] >= 0).map((actor) =>
      make("span", { style: `left:${x(actor.id) + 2}px`, title: actor.name }, actor.name)));
    render();
  }

  const x = (actor) => (wide ? LABEL : 0) + LEFT + lanes.lane[actor] * LANE + LANE / 2;
  const y = (row) => row * ROW + ROW / 2;

  /// Draws the rows in view. Called on every scroll, so it touches only these.
  function render() {
    const view = $("steps");
    const top = Math.max(0, view.scrollTop - $("lane-names").offsetHeight);
    const first = Math.max(0, Math.floor(top / ROW) - 6);
    const last = Math.min(rows.length - 1, Math.ceil((top + view.clientHeight) / ROW) + 6);
    const side = (wide ? LABEL : 0) + LEFT * 2 + lanes.count * LANE;
    $("texts").replaceChildren(...rows.slice(first, last + 1).map((row, k) => line(row, first + k, side)));
    const svg = $("diagram");
    svg.setAttribute("width", side);
    svg.style.clipPath = wide ? `inset(0 0 0 ${LABEL + view.scrollLeft}px)` : "";
    svg.setAttribute("height", (last - first + 1) * ROW);
    svg.style.top = `${first * ROW}px`;
    svg.setAttribute("viewBox", `0 ${first * ROW} ${side} ${Math.max(1, (last - first + 1) * ROW)}`);
    const parts = [];
    for (const actor of trace.actors) {
      if (lanes.lane[actor.id] < 0) continue;
      parts.push(draw("line", { class: "lane", x1: x(actor.id), x2: x(actor.id), y1: first * ROW, y2: (last + 1) * ROW }));
    }
    for (const k of L.visible(arrows, index, first, last)) parts.push(...arrow(arrows[k]));
    for (let at = first; at <= last; at += 1) if (rows[at].event !== undefined) parts.push(dot(rows[at].event, at));
    svg.replaceChildren(...parts);
    for (const name of $("lane-names").children) name.classList.toggle("on", name.textContent === actorName(trace.events[selected]?.actor));
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
    const state = [bad.has(id) ? "bad" : "", race.has(id) ? "race" : "", id === selected ? "selected" : past.has(id) ? "past" : ""].join(" ");
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
      const text = `steps ${(row.first + 1).toLocaleString("en")}–${(row.last + 1).toLocaleString("en")} repeat the ${row.period === 1 ? "step" : `${row.period} steps`} before: show`;
      const element = make("div", { className: "step fold", style, role: "option", "aria-selected": "false" }, make("div", { className: "label" }, make("span", { className: "number" }, "⋯"), text));
      element.addEventListener("click", () => { open.add(row.fold); lay(); });
      return element;
    }
    const event = trace.events[row.event];
    const classes = ["step", row.event === selected ? "selected" : past.has(row.event) ? "past" : "", matches.includes(row.event) ? "match" : ""];
    const element = make("div", {
      className: classes.join(" "), style, role: "option", id: `step-${row.event}`, "aria-selected": String(row.event === selected),
      "aria-setsize": String(trace.events.length), "aria-posinset": String(row.event + 1),
    },
      make("div", { className: "label" },
        make("span", { className: "number" }, `${row.event + 1}`),
        race.has(row.event) && wide ? make("span", { className: "badge race" }, "race") : null,
        bad.has(row.event) && wide ? make("span", { className: "badge bad" }, trace.finding.kind) : null,
        make("span", {}, make("span", { className: "who" }, actorName(event.actor)), ` ${event.text}`, event.from !== undefined && event.from !== null ? ` from ${actorName(event.from)}` : ""),
        ...(event.changes || []).map((change) => make("span", { className: "change" }, `${change.field}: ${change.before} → ${change.after}`)),
        race.has(row.event) && !wide ? make("span", { className: "badge race" }, "race") : null,
        bad.has(row.event) && !wide ? make("span", { className: "badge bad" }, trace.finding.kind) : null,
      ),
    );
    element.addEventListener("click", () => select(row.event));
    return element;
  }

  // ---- the selected step ---------------------------------------------------------------------------------------

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
    const view = $("steps");
    if (scroll && at >= 0) {
      const names = $("lane-names").offsetHeight;
      const [from, to] = [view.scrollTop, view.scrollTop + view.clientHeight - names];
      if (at * ROW < from) view.scrollTop = at * ROW;
      else if ((at + 1) * ROW > to) view.scrollTop = (at + 1) * ROW - (view.clientHeight - names);
      const lane = x(trace.events[selected].actor);
      if (wide && (lane - LABEL < view.scrollLeft || lane + LANE > view.scrollLeft + view.clientWidth)) {
        view.scrollLeft = lane - (LABEL + view.clientWidth) / 2;
      }
    }
    view.setAttribute("aria-activedescendant", `step-${selected}`);
    $("position").textContent = `${(selected + 1).toLocaleString("en")} / ${trace.events.length.toLocaleString("en")}`;
    history.replaceState(null, "", `#f${data.traces.indexOf(trace) + 1}s${selected + 1}`);
    render();
    detail();
  }

  const goTo = (id, text) => {
    const anchor = make("a", { href: `#f${data.traces.indexOf(trace) + 1}s${id + 1}` }, text);
    anchor.addEventListener("click", (click) => { click.preventDefault(); select(id); });
    return anchor;
  };

  function detail() {
    const event = trace.events[selected];
    const part = (title, ...content) => [make("h3", {}, title), ...content];
    const list = (items) => make("ul", {}, ...items.map((item) => make("li", {}, item)));
    const found = [make("h2", {}, `${selected + 1}. ${actorName(event.actor)} ${event.text}`)];
    if (bad.has(selected)) found.push(make("p", {}, make("span", { className: "badge bad" }, trace.finding.kind), " ", trace.finding.message.split("\n")[0]));
    if (race.has(selected)) found.push(make("p", {}, make("span", { className: "badge race" }, "race"), " ", trace.race.text || "the order of these two steps decides"));
    if (event.from !== undefined && event.from !== null) found.push(make("p", {}, `from ${actorName(event.from)}`, event.sent_at ? ` (sent ${event.sent_at})` : ""));
    else if (event.sent_at) found.push(make("p", {}, `sent ${event.sent_at}`));
    if (event.message) found.push(...part("Message", make("pre", {}, [event.message.type, event.message.text].filter((text, k, all) => text && (k === 0 || text !== all[0])).join("\n"))));
    if ((event.effects || []).length > 0) found.push(...part("Then", list(event.effects.map((effect) => effect.text))));
    if ((event.changes || []).length > 0) found.push(...part("State", stateTable(event)));
    else if (event.state?.after !== undefined) found.push(...part("State (unchanged)", make("pre", {}, text(event.state.after))));
    if ((event.output || []).length > 0) found.push(...part("Output", make("pre", {}, event.output.join("\n"))));
    const excerpt = source(event.place || event.sent_at);
    if (excerpt) found.push(...part(event.place ? event.place : `Sent at ${event.sent_at}`, excerpt));
    if ((event.causes || []).length > 0) found.push(...part("Because of", list(event.causes.map((id) => goTo(id, `${id + 1}. ${actorName(trace.events[id].actor)} ${trace.events[id].text}`)))));
    const later = trace.events.flatMap((other, id) => ((other.causes || []).includes(selected) ? [id] : []));
    if (later.length > 0) found.push(...part("Leads to", list(later.slice(0, 20).map((id) => goTo(id, `${id + 1}. ${actorName(trace.events[id].actor)} ${trace.events[id].text}`)))));
    if ((event.touches || []).length > 0) found.push(...part("Touches", list(event.touches.map((touch) => `${touch.access}s ${touch.object}`))));
    $("detail").replaceChildren(...found);
  }

  const text = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 1));

  function stateTable(event) {
    const rows = event.changes.map((change) => make("tr", { className: "changed" }, make("th", {}, change.field),
      make("td", { className: "was" }, change.before), make("td", {}, change.after)));
    return make("table", { className: "state" }, make("tr", {}, ...["field", "before", "after"].map((name) => make("th", {}, name))), ...rows);
  }

  function source(place) {
    const [, file, at] = /^(.*):(\d+)$/.exec(place || "") || [];
    const excerpt = (trace.sources || []).find((source) => source.file === file && source.first <= Number(at) && Number(at) < source.first + source.lines.length);
    if (!excerpt) return null;
    const from = Math.max(0, Number(at) - excerpt.first - 4);
    return make("pre", {}, ...excerpt.lines.slice(from, from + 9).map((line, k) => {
      const number = excerpt.first + from + k;
      return make("span", { className: number === Number(at) ? "line here" : "line" }, `${String(number).padStart(4)}  ${line || " "}`);
    }));
  }

  // ---- why -----------------------------------------------------------------------------------------------------

  function why() {
    const parts = [];
    if ((trace.finding.waits || []).length > 0) parts.push(make("h2", {}, "Who waits for whom"), waits());
    if (trace.finding.unreceived?.length > 0) {
      parts.push(make("h2", {}, "What did not happen"), make("ul", {}, ...trace.finding.unreceived.map((each) => make("li", {}, each))));
    }
    if (trace.passing) {
      const button = make("button", { "aria-expanded": String(showPassing), title: "w" }, showPassing ? "Hide the comparison" : "Compare with an execution that passes");
      button.addEventListener("click", () => { showPassing = !showPassing; why(); });
      parts.push(make("h2", {}, "Why"), make("p", {}, trace.passing.text || "", " ", button));
      if (showPassing) parts.push(sides());
    }
    $("why").replaceChildren(...parts);
    render();
  }

  function sides() {
    const [left, right] = [trace.events, trace.passing.events];
    const pairs = L.align(left, right);
    const first = L.firstDifference(pairs);
    const cell = (events, id, differs, side) => {
      if (id === null) return make("div", { className: `absent${differs ? ` differs ${side}` : ""}` }, "—");
      const event = events[id];
      const name = side === "right" ? trace.passing.actors[event.actor].name : actorName(event.actor);
      return make("div", { className: differs ? `differs ${side}` : "" }, `${id + 1}. ${name} ${event.text}`);
    };
    const from = Math.max(0, first - 3);
    const shown = pairs.slice(from, from + 200);
    const cells = shown.flatMap(([l, r]) => {
      const differs = l === null || r === null;
      return [cell(left, l, differs, "left"), cell(right, r, differs, "right")];
    });
    return make("div", { className: "sides", role: "group", "aria-label": "The failing and a passing execution" },
      make("div", { className: "title" }, `fails: ${trace.finding.kind}`), make("div", { className: "title" }, "passes"), ...cells);
  }

  /// The wait-for graph: a picture, and beside it the same as text.
  function waits() {
    const waits = trace.finding.waits;
    const ids = [...new Set(waits.flatMap((wait) => [wait.actor, ...(wait.for ?? [])]))];
    const cycle = new Set(trace.finding.cycle || []);
    const places = L.circle(ids.length);
    const size = Math.min(420, 200 + ids.length * 24);
    const svg = draw("svg", { width: size, height: size, viewBox: `0 0 ${size} ${size}`, "aria-hidden": "true" });
    const at = (id) => { const { x, y } = places[ids.indexOf(id)]; return [x * size, y * size]; };
    for (const wait of waits) {
      for (const other of wait.for ?? []) {
        const [[x0, y0], [x1, y1]] = [at(wait.actor), at(other)];
        const [dx, dy] = [x1 - x0, y1 - y0];
        const length = Math.hypot(dx, dy) || 1;
        const [ex, ey] = [x1 - (dx / length) * 24, y1 - (dy / length) * 24];
        const on = cycle.has(wait.actor) && cycle.has(other) ? "cycle" : "";
        const [nx, ny] = [(-dy / length) * 14, (dx / length) * 14];
        svg.append(draw("path", { class: on, d: `M${x0},${y0} Q${(x0 + ex) / 2 + nx},${(y0 + ey) / 2 + ny} ${ex},${ey}` }));
        svg.append(draw("circle", { class: on, cx: ex, cy: ey, r: 3.5 }));
      }
    }
    for (const id of ids) {
      const [cx, cy] = at(id);
      const name = actorName(id).length > 16 ? actorName(id).slice(0, 15) + "…" : actorName(id);
      const width = Math.max(40, name.length * 7.2 + 14);
      svg.append(draw("rect", { class: cycle.has(id) ? "cycle" : "", x: cx - width / 2, y: cy - 14, width, height: 28, rx: 14 }));
      const label = draw("text", { x: cx, y: cy + 4 });
      label.textContent = name;
      svg.append(label);
    }
    const list = make("ul", {}, ...waits.map((wait) => make("li", {}, `${actorName(wait.actor)} ${wait.text}`)));
    const round = cycle.size > 1 ? make("p", {}, `cycle: ${[...trace.finding.cycle, trace.finding.cycle[0]].map(actorName).join(" → ")}`) : null;
    return make("div", { className: "waits" }, svg, make("div", {}, list, round));
  }

  // ---- search, filters, keys -----------------------------------------------------------------------------------

  function search(next = false) {
    const query = $("search").value;
    matches = L.matches(trace, query);
    $("found").textContent = query.trim() === "" ? "" : count(matches.length, "match").replace("matchs", "matches");
    if (matches.length > 0 && (next || !matches.includes(selected))) {
      select(matches.find((id) => id > selected) ?? matches[0]);
    } else render();
  }

  function chooseActor() {
    const chosen = $("actor").value;
    onlyActor = chosen === "" ? null : Number(chosen);
    lay();
    select(selected);
  }

  function keys(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.id === "search") {
      if (event.key === "Enter") search(true);
      else if (event.key === "Escape") { $("search").value = ""; search(); $("steps").focus(); }
      return;
    }
    if (event.target.tagName === "SELECT") return;
    const actions = {
      ArrowDown: () => select(selected + 1), j: () => select(selected + 1), ArrowUp: () => select(selected - 1), k: () => select(selected - 1),
      Home: () => select(0), End: () => select(trace.events.length - 1), PageDown: () => select(selected + 10), PageUp: () => select(selected - 10),
      "/": () => $("search").focus(), r: () => race.size > 0 && select([...race][0]), w: () => trace.passing && (showPassing = !showPassing, why()),
      Escape: () => { $("actor").value = ""; chooseActor(); }, "?": help,
    };
    if (actions[event.key]) {
      event.preventDefault();
      actions[event.key]();
    }
  }

  function help() {
    $("help").hidden = !$("help").hidden;
    $("help-button").setAttribute("aria-expanded", String(!$("help").hidden));
  }

  /// Shows trace number `k` of the page, at step `step` or at the finding.
  function show(k, step) {
    trace = data.traces[k];
    trace.actors.forEach((actor, id) => (actor.id = id));
    bad = new Set(trace.finding.events || []);
    race = new Set(trace.race ? [trace.race.first, trace.race.second] : []);
    [open, onlyActor, matches, past, showPassing] = [new Set(), null, [], new Set(), false];
    $("search").value = "";
    $("actor").replaceChildren(make("option", { value: "" }, "all actors"), ...trace.actors.map((actor) => make("option", { value: String(actor.id) }, actor.name)));
    head();
    tabs();
    lay();
    why();
    if (trace.events.length === 0) {
      $("detail").replaceChildren(make("p", {}, "This happens before the first step: there is nothing to step through."));
      $("position").textContent = "0 / 0";
    } else {
      // Without an event that shows the error, the last one that is not folded away.
      const shown = rows.findLast((row) => row.event !== undefined);
      select(step ?? [...bad].pop() ?? shown.event);
    }
  }

  let waiting = false;
  $("steps").addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; render(); });
  }, { passive: true });
  addEventListener("resize", render);
  addEventListener("keydown", keys);
  $("first").addEventListener("click", () => select(0));
  $("previous").addEventListener("click", () => select(selected - 1));
  $("next").addEventListener("click", () => select(selected + 1));
  $("last").addEventListener("click", () => select(trace.events.length - 1));
  $("search").addEventListener("input", () => search());
  $("actor").addEventListener("change", chooseActor);
  $("help-button").addEventListener("click", help);
  const [, finding, step] = /^#f(\d+)s(\d+)$/.exec(location.hash) || [];
  const wanted = Number(finding) - 1;
  if (data.traces[wanted]) show(wanted, Number(step) - 1);
  else show(0);
})();
