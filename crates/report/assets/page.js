// The report page: draws the traces in `#data` and lets a reader step through them.
"use strict";
(() => {
  const L = globalThis.WhippetLayout;
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const { make, draw } = globalThis.WhippetDiagram;
  const V = globalThis.WhippetValues;

  /// What the reader sees: the trace, the matches of the search, the events that are marked.
  let trace, matches, bad, race;
  /// The events of each actor that changed its state.
  let changesOf = [];
  let [showPassing, showAll] = [false, false];

  const diagram = globalThis.WhippetDiagram.create(
    { view: $("steps"), names: $("lane-names"), rows: $("rows"), svg: $("diagram"), texts: $("texts") },
    { selected: told, badges },
  );

  /// Returns the marks of a step.
  function badges(id) {
    return [...(race.has(id) ? [["race", "race"]] : []), ...(bad.has(id) ? [["bad", trace.finding.kind]] : [])];
  }

  const count = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
  const actorName = (id) => (id === undefined || id === null ? "the test" : trace.actors[id].name);

  // ---- the head ------------------------------------------------------------------------------------------------

  function head() {
    const { finding, program } = trace;
    const [first, ...rest] = finding.message.split("\n");
    const kind = make("span", { className: finding.kind === "none" ? "kind ok" : finding.warning ? "kind warning" : "kind" },
      finding.kind === "none" ? "execution" : finding.warning ? `warning: ${finding.kind}` : finding.kind);
    const title = make("h1", {}, kind, " ", waitTitle(trace) ?? first);
    const where = [program.name, ...Object.entries(program.parameters || {}).map(([name, value]) => `${name}=${value}`)];
    if (finding.place) where.push(finding.place);
    if (data.summary) where.push(data.summary);
    $("head").replaceChildren(
      title,
      rest.length > 0 && !finding.waits?.length ? make("pre", {}, rest.join("\n")) : "",
      make("p", {}, where.join(" · ")),
      trace.replay ? replay(trace.replay) : "",
    );
  }

  /// The title of a finding about actors that wait, which are shown below one by one.
  function waitTitle({ actors, finding: { waits = [], cycle = [] } }) {
    if (waits.length === 0) return null;
    if (cycle.length > 1) return `${count(cycle.length, "actor")} wait for each other`;
    if (cycle.length === 1) return `${actors[cycle[0]].name} waits for itself`;
    return waits.length === 1 ? `${actors[waits[0].actor].name} waits forever` : `${waits.length} actors wait forever`;
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
      const name = `${k + 1}. ${each.finding.warning ? "warning: " : ""}${each.finding.kind}: ${waitTitle(each) ?? each.finding.message.split("\n")[0]}`;
      const tab = make("button", { "aria-pressed": String(each === trace), title: name }, name.length > 60 ? name.slice(0, 59) + "…" : name);
      tab.addEventListener("click", () => show(k));
      return tab;
    }));
  }

  /// The properties of a box that may have to be scrolled, with the keyboard too.
  const code = (label) => ({ tabIndex: 0, role: "group", "aria-label": label });

  // ---- the selected step ---------------------------------------------------------------------------------------

  const select = (id) => diagram.select(id);

  /// Called when a step is selected.
  function told(selected) {
    $("position").textContent = `${(selected + 1).toLocaleString("en")} / ${trace.events.length.toLocaleString("en")}`;
    history.replaceState(null, "", `#f${data.traces.indexOf(trace) + 1}s${selected + 1}`);
    detail(selected);
  }

  const goTo = (id, text) => {
    const anchor = make("a", { href: `#f${data.traces.indexOf(trace) + 1}s${id + 1}` }, text);
    anchor.addEventListener("click", (click) => { click.preventDefault(); select(id); });
    return anchor;
  };

  function detail(selected) {
    const event = trace.events[selected];
    const part = (title, ...content) => [make("h3", {}, title), ...content];
    const list = (items) => make("ul", {}, ...items.map((item) => make("li", {}, item)));
    const found = [make("h2", {}, `${selected + 1}. ${actorName(event.actor)} ${event.text}`)];
    const waits = (trace.finding.waits || []).filter((wait) => wait.actor === event.actor);
    const told = (trace.finding.waits || []).length > 0 ? waits.map((wait) => `${actorName(wait.actor)} ${wait.text}`).join("; ") : trace.finding.message.split("\n")[0];
    if (bad.has(selected) && told !== "") found.push(make("p", {}, make("span", { className: "badge bad" }, trace.finding.kind), ` ${told}`));
    if (race.has(selected)) found.push(make("p", {}, make("span", { className: "badge race" }, "race"), " ", trace.race.text || "the order of these two steps decides"));
    if (event.from !== undefined && event.from !== null) found.push(make("p", {}, `from ${actorName(event.from)}`, event.sent_at ? ` (sent ${event.sent_at})` : ""));
    else if (event.sent_at) found.push(make("p", {}, `sent ${event.sent_at}`));
    if (event.message) {
      const { type, text } = event.message;
      // The name of a variant is the beginning of its text.
      found.push(...part("Message", make("pre", code("Message"), !type || text?.startsWith(type) ? text : [type, text].filter(Boolean).join("\n"))));
    }
    if ((event.effects || []).length > 0) found.push(...part("Then", list(event.effects.map((effect) => effect.text))));
    if (event.state) found.push(...part("State", make("div", { className: "tree" }, V.show(V.diff(event.state.before, event.state.after)))));
    else if ((event.changes || []).length > 0) found.push(...part("State", stateTable(event)));
    else {
      const known = stateOf(event.actor, selected);
      if (known !== undefined) found.push(...part("State (unchanged)", make("div", { className: "tree" }, V.show(V.diff(undefined, known)))));
    }
    if ((event.output || []).length > 0) found.push(...part("Output", make("pre", code("Output"), event.output.join("\n"))));
    found.push(...allStates(selected));
    const excerpt = source(event.place || event.sent_at);
    if (excerpt) found.push(...part(event.place ? event.place : `Sent at ${event.sent_at}`, excerpt));
    if ((event.causes || []).length > 0) found.push(...part("Because of", list(event.causes.map((id) => goTo(id, `${id + 1}. ${actorName(trace.events[id].actor)} ${trace.events[id].text}`)))));
    const later = trace.events.flatMap((other, id) => ((other.causes || []).includes(selected) ? [id] : []));
    if (later.length > 0) found.push(...part("Leads to", list(later.slice(0, 20).map((id) => goTo(id, `${id + 1}. ${actorName(trace.events[id].actor)} ${trace.events[id].text}`)))));
    if ((event.touches || []).length > 0) found.push(...part("Touches", list(event.touches.map((touch) => `${touch.access}s ${touch.object}${touch.place ? ` at ${touch.place}` : ""}`))));
    const made = trace.actors[event.actor].place;
    if (made) found.push(...part("Actor", make("p", {}, `${actorName(event.actor)} was created at ${made}`)));
    $("detail").replaceChildren(...found);
  }

  /// Returns the state of an actor after a step: that of its last change.
  function stateOf(actor, at) {
    const changes = changesOf[actor];
    const last = changes.findLast((id) => id <= at);
    if (last !== undefined) return trace.events[last].state.after;
    return changes.length > 0 ? trace.events[changes[0]].state.before : trace.ends.get(actorName(actor));
  }

  /// The states of all actors after a step, if several are known. What the step changed is marked.
  function allStates(at) {
    const known = trace.actors.map((actor, id) => [id, stateOf(id, at)]).filter(([, state]) => state !== undefined);
    if (known.length < 2) return [];
    const element = make("details", { id: "all-states", open: showAll }, make("summary", { title: "s" }, make("h3", {}, "All actors after this step")));
    const fill = () => {
      const event = trace.events[at];
      const lines = known.slice(0, 300).map(([id, state]) => make("tr", {}, make("th", { scope: "row" }, actorName(id)),
        make("td", {}, V.show(V.diff(id === event.actor ? event.state?.before : undefined, state)))));
      const more = known.length > 300 ? make("p", {}, `… ${known.length - 300} more`) : null;
      element.append(make("table", { className: "states" }, make("tbody", {}, ...lines)), ...(more ? [more] : []));
    };
    if (showAll) fill();
    element.addEventListener("toggle", () => {
      if (element.open === showAll) return;
      showAll = element.open;
      if (showAll && element.children.length === 1) fill();
    });
    return [element];
  }

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
    return make("pre", code(`Source at ${place}`), ...excerpt.lines.slice(from, from + 9).map((line, k) => {
      const number = excerpt.first + from + k;
      return make("span", { className: number === Number(at) ? "line here" : "line" }, `${String(number).padStart(4)}  ${line || " "}`);
    }));
  }

  // ---- why -----------------------------------------------------------------------------------------------------

  function why() {
    const parts = [];
    if (trace.passing) {
      const button = make("button", { "aria-expanded": String(showPassing), title: "w" }, showPassing ? "Hide the comparison" : "Compare with an execution that passes");
      button.addEventListener("click", () => { showPassing = !showPassing; why(); });
      parts.push(make("p", {}, make("strong", {}, "Why? "), trace.passing.text || "", " ", button));
      if (showPassing) parts.push(sides());
    }
    if ((trace.finding.waits || []).length > 0) parts.push(make("h2", {}, "Who waits for whom"), waits());
    if (trace.finding.kind === "race") parts.push(...accesses());
    const unreceived = (trace.end || []).filter((state) => (state.pending || []).length > 0);
    if (unreceived.length > 0 && trace.finding.kind !== "none") {
      const lines = unreceived.flatMap((state) => state.pending.map((message) =>
        make("li", {}, make("strong", {}, state.actor), ": ", make("code", {}, message), state.status ? ` (${state.status})` : "")));
      const more = lines.length > 8 ? [make("li", {}, `… ${lines.length - 8} more, see below`)] : [];
      // Where it is known who waits for whom, this is no news.
      parts.push(make("details", { open: (trace.finding.waits || []).length === 0 }, make("summary", {}, make("h2", {}, "Sent, but not received")), make("ul", {}, ...lines.slice(0, 8), ...more)));
    }
    $("why").replaceChildren(...parts);
    diagram.render();
  }

  /// The failing and the passing execution side by side. The first decision that differs is marked, and long parts that
  /// only one of them has are cut short.
  function sides() {
    const [left, right] = [trace.events, trace.passing.events];
    const pairs = L.align(left, right);
    const first = L.firstDifference(pairs);
    const cell = (id, differs, side, decides) => {
      if (id === null) return make("div", { className: "absent" }, "—");
      const event = (side === "right" ? right : left)[id];
      const name = (side === "right" ? trace.passing : trace).actors[event.actor].name;
      const text = `${id + 1}. ${name} ${event.text}`;
      return make("div", { className: differs ? `differs ${side}` : "" }, differs ? make("span", { "aria-hidden": "true" }, side === "right" ? "+ " : "− ") : null,
        side === "right" ? text : goTo(id, text), decides ? make("span", { className: "badge race" }, "first difference") : null);
    };
    const cells = [];
    for (const row of L.clipped(pairs, Math.max(0, first - 3))) {
      if (row.left !== undefined) {
        const more = (n) => make("div", { className: "absent" }, n === 0 ? "—" : row.common ? `… ${count(n, "step")} that both have` : `… ${count(n, "more step")}`);
        cells.push(more(row.left), more(row.right));
        continue;
      }
      const [l, r] = pairs[row.at];
      const differs = l === null || r === null;
      cells.push(cell(l, differs, "left", row.at === first && l !== null), cell(r, differs, "right", row.at === first && l === null));
    }
    return make("div", { className: "sides", role: "group", "aria-label": "The failing and a passing execution" },
      make("div", { className: "title" }, `fails: ${trace.finding.kind}`), make("div", { className: "title" }, "passes"), ...cells);
  }

  /// Both accesses of a data race, with their sources.
  function accesses() {
    const [first, second] = [...bad].map((id) => trace.events[id]);
    const touched = (event) => event?.touches || [];
    const pairs = touched(first).flatMap((one) => touched(second).filter((other) => other.object === one.object && (one.access !== "read" || other.access !== "read")).map((other) => [one, other]));
    if (pairs.length === 0) return [];
    const [one, other] = pairs[0];
    const side = (event, touch) => make("div", {}, make("p", {}, goTo(trace.events.indexOf(event), `${trace.events.indexOf(event) + 1}. ${actorName(event.actor)} ${event.text}`),
      ` ${touch.access}s ${touch.object}${touch.place ? ` at ${touch.place}` : ""}`), source(touch.place ?? event.place) ?? "");
    return [make("h2", {}, "Two accesses that nothing orders"), make("div", { className: "accesses" }, side(first, one), side(second, other))];
  }

  /// The state of every actor after the last step.
  function end() {
    const states = trace.end || [];
    if (states.length === 0) return $("end").replaceChildren();
    const lines = states.map((state) => make("tr", {}, make("th", { scope: "row" }, state.actor),
      make("td", {}, state.state === undefined ? "" : V.show(V.diff(undefined, state.state)), state.status ? make("p", { className: "status" }, state.status) : null),
      make("td", {}, ...(state.pending || []).map((message) => make("code", {}, message)))));
    const columns = make("tr", {}, ...["actor", "state", "not received"].map((name) => make("th", { scope: "col" }, name)));
    const table = make("table", { className: "states" }, make("thead", {}, columns), make("tbody", {}, ...lines));
    $("end").replaceChildren(make("details", { open: states.length <= 12 }, make("summary", {}, make("h2", {}, trace.finding.kind === "none" ? "After the last step" : "How it ended")), make("div", { className: "scroll", ...code("The actors at the end") }, table)));
  }

  /// A bent arrow that ends at the border of a box of this half width and height.
  function edge(x0, y0, x1, y1, halfWidth, halfHeight, kind) {
    const length = Math.hypot(x1 - x0, y1 - y0) || 1;
    const [nx, ny] = [(-(y1 - y0) / length) * 18, ((x1 - x0) / length) * 18];
    const [mx, my] = [(x0 + x1) / 2 + nx, (y0 + y1) / 2 + ny];
    const [dx, dy] = [x1 - mx, y1 - my];
    const share = Math.min(halfWidth / Math.max(Math.abs(dx), 0.01), halfHeight / Math.max(Math.abs(dy), 0.01), 1);
    const [ex, ey] = [x1 - dx * share, y1 - dy * share];
    const turn = Math.atan2(dy, dx);
    const tip = [[0, 0], [-10, -5], [-10, 5]].map(([u, v]) => [ex + u * Math.cos(turn) - v * Math.sin(turn), ey + u * Math.sin(turn) + v * Math.cos(turn)].join(","));
    return [draw("path", { class: kind, d: `M${x0},${y0} Q${mx},${my} ${ex},${ey}` }), draw("polygon", { class: kind, points: tip.join(" ") })];
  }

  /// The wait-for graph: a picture, and beside it the same as text.
  function waits() {
    const waits = trace.finding.waits;
    const ids = [...new Set(waits.flatMap((wait) => [wait.actor, ...(wait.for ?? [])]))];
    const cycle = new Set(trace.finding.cycle || []);
    const places = L.circle(ids.length);
    const [width, height] = [Math.min(620, 240 + ids.length * 36), Math.min(300, 110 + ids.length * 20)];
    const svg = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
    const label = (id) => (actorName(id).length > 16 ? actorName(id).slice(0, 15) + "…" : actorName(id));
    const half = (id) => Math.max(40, label(id).length * 7.2 + 14) / 2;
    const at = (id) => { const { x, y } = places[ids.indexOf(id)]; return [70 + x * (width - 140), y * height]; };
    for (const wait of waits) {
      for (const other of wait.for ?? []) {
        const [[x0, y0], [x1, y1]] = [at(wait.actor), at(other)];
        const on = cycle.has(wait.actor) && cycle.has(other) ? "cycle" : "";
        if (wait.actor === other) {
          svg.append(draw("path", { class: "cycle", d: `M${x0 - 10},${y0 + 12} C${x0 - 34},${y0 + 54} ${x0 + 34},${y0 + 54} ${x0 + 10},${y0 + 16}` }));
          continue;
        }
        svg.append(...edge(x0, y0, x1, y1, half(other) + 3, 17, on));
      }
    }
    for (const id of ids) {
      const [cx, cy] = at(id);
      svg.append(draw("rect", { class: cycle.has(id) ? "cycle" : "", x: cx - half(id), y: cy - 14, width: 2 * half(id), height: 28, rx: 14 }));
      const text = draw("text", { x: cx, y: cy + 4 });
      text.textContent = label(id);
      svg.append(text);
    }
    const list = make("ul", {}, ...waits.map((wait) => make("li", {}, make("strong", {}, actorName(wait.actor)), ` ${wait.text}`)));
    const round = cycle.size > 1 ? make("p", {}, `cycle: ${[...trace.finding.cycle, trace.finding.cycle[0]].map(actorName).join(" → ")}`) : null;
    return make("div", { className: "waits" }, svg, make("div", {}, list, round));
  }

  // ---- search, filters, keys -----------------------------------------------------------------------------------

  function search(next = false) {
    const query = $("search").value;
    matches = L.matches(trace, query);
    $("found").textContent = query.trim() === "" ? "" : count(matches.length, "match").replace("matchs", "matches");
    diagram.mark(matches);
    if (matches.length > 0 && (next || !matches.includes(diagram.selected))) {
      select(matches.find((id) => id > diagram.selected) ?? matches[0]);
    }
  }

  function choose() {
    const [actor, type] = [$("actor").value, $("type").value];
    diagram.filter(actor === "" ? null : Number(actor), type === "" ? null : type);
    select(diagram.selected);
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
      ArrowDown: () => diagram.move(1), j: () => diagram.move(1), ArrowUp: () => diagram.move(-1), k: () => diagram.move(-1),
      Home: () => select(0), End: () => select(diagram.lastShown), PageDown: () => diagram.move(10), PageUp: () => diagram.move(-10), o: () => diagram.unfold(),
      "/": () => $("search").focus(), r: () => race.size > 0 && select([...race][0]), w: () => trace.passing && (showPassing = !showPassing, why()),
      s: () => {
        const all = $("all-states");
        if (!all) return;
        all.open = !all.open;
        // The browser's own event comes later; until then a move to another step would forget the choice.
        all.dispatchEvent(new Event("toggle"));
      },
      Escape: () => { $("actor").value = $("type").value = ""; choose(); }, "?": help,
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
    changesOf = trace.actors.map(() => []);
    trace.events.forEach((event, id) => event.state && changesOf[event.actor].push(id));
    trace.ends = new Map((trace.end || []).map((state) => [state.actor, state.state]));
    bad = new Set(trace.finding.events || []);
    race = new Set(trace.race ? [trace.race.first, trace.race.second] : []);
    [matches, showPassing] = [[], false];
    $("search").value = "";
    $("actor").replaceChildren(make("option", { value: "" }, "all actors"), ...trace.actors.map((actor) => make("option", { value: String(actor.id) }, actor.name)));
    const types = [...new Set(trace.events.map(L.type))].sort();
    $("type").replaceChildren(make("option", { value: "" }, "all types"), ...types.map((type) => make("option", { value: type }, type)));
    $("type").hidden = types.length < 2;
    head();
    tabs();
    // The steps that neither the finding nor the race depends on are folded.
    diagram.show(trace, { asides: bad.size === 0 ? [] : L.asides(trace, [...bad, ...race].filter((id) => id !== undefined && id !== null)) });
    why();
    end();
    if (trace.events.length === 0) {
      const [excerpt, place] = [source(trace.finding.place), trace.finding.place];
      $("detail").replaceChildren(make("h2", {}, "Before the first step"), make("p", {}, "This happens while the program is set up, in every execution: no order of steps leads to it."),
        ...(excerpt ? [make("h3", {}, place), excerpt] : []));
      $("position").textContent = "0 / 0";
    } else {
      // Without an event that shows the error, the last one that is not folded away.
      const waiting = new Set((trace.finding.waits || []).map((wait) => wait.actor));
      const shows = [...bad].filter((id) => waiting.size === 0 || waiting.has(trace.events[id]?.actor));
      select(step ?? shows.pop() ?? diagram.lastShown);
    }
  }

  addEventListener("keydown", keys);
  $("first").addEventListener("click", () => select(0));
  $("previous").addEventListener("click", () => diagram.move(-1));
  $("next").addEventListener("click", () => diagram.move(1));
  $("last").addEventListener("click", () => select(diagram.lastShown));
  $("search").addEventListener("input", () => search());
  $("actor").addEventListener("change", choose);
  $("type").addEventListener("change", choose);
  $("help-button").addEventListener("click", help);
  const [, finding, step] = /^#f(\d+)s(\d+)$/.exec(location.hash) || [];
  const wanted = Number(finding) - 1;
  if (data.traces[wanted]) show(wanted, Number(step) - 1);
  else show(0);
})();
