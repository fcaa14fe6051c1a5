// Layout of the space-time diagram: pure functions from a trace to rows, lanes and arrows.
//
// Time runs downwards, one row per event (or per folded repetition), and every actor has a vertical lane. Nothing here
// touches the document, so that `layout.test.mjs` can test it in Node.
"use strict";
globalThis.WhippetLayout = (() => {
  /// Rows per bucket of the arrow index: a window of rows looks at few buckets, however long the trace is.
  const BUCKET = 64;

  /// Returns the runs of events that none of the given ones depends on, as `{ first, last }`. One such event alone is
  /// no run: its row takes no more space than a fold.
  function asides(trace, ids) {
    if (ids.length === 0) return [];
    const needed = past(trace, ids);
    const result = [];
    for (let id = 0; id < trace.events.length; id += 1) {
      if (needed.has(id)) continue;
      const first = id;
      while (id + 1 < trace.events.length && !needed.has(id + 1)) id += 1;
      if (id > first) result.push({ first, last: id });
    }
    return result;
  }

  /// Returns the type of an event's message, or else the kind of event.
  const type = (event) => event.message?.type ?? event.kind;

  /// Returns the rows to show: one for each event, one for each folded repetition, and one for each run of `aside`
  /// events. `open` is the set of repetitions (by index) and runs (`aside` and its index) that the reader has unfolded;
  /// `keep` decides which events are shown at all.
  function rows(trace, open = new Set(), keep = () => true, aside = []) {
    const result = [];
    const repeats = trace.repeats || [];
    let [next, nextAside] = [0, 0];
    for (let id = 0; id < trace.events.length; ) {
      while (nextAside < aside.length && aside[nextAside].last < id) nextAside += 1;
      const run = aside[nextAside];
      if (run && run.first <= id && !open.has(`aside${nextAside}`)) {
        result.push({ fold: `aside${nextAside}`, first: id, last: run.last });
        id = run.last + 1;
        continue;
      }
      while (next < repeats.length && repeats[next].last < id) next += 1;
      const repeat = repeats[next];
      if (repeat && repeat.first + repeat.period === id && !open.has(next)) {
        // The first round stays visible; the others are folded into one row.
        result.push({ fold: next, first: id, last: repeat.last, period: repeat.period });
        id = repeat.last + 1;
        continue;
      }
      if (keep(trace.events[id])) result.push({ event: id });
      id += 1;
    }
    return result;
  }

  /// Returns the lane of each actor, or -1 for actors without an event in `rows`. Actors are placed in the order of
  /// their first event, so that neighbours in time are neighbours on the page.
  function lanes(trace, rows) {
    const lane = new Array(trace.actors.length).fill(-1);
    let count = 0;
    for (const row of rows) {
      if (row.event === undefined) continue;
      const event = trace.events[row.event];
      for (const actor of [event.from, event.actor]) {
        if (actor !== undefined && actor !== null && lane[actor] === -1) lane[actor] = count++;
      }
    }
    return { lane, count };
  }

  /// Returns the arrows between rows: one for each cause of an event, `message` where the cause sent what the event
  /// receives. A cause in a folded repetition starts at the row of the fold.
  function arrows(trace, rows) {
    const rowOf = new Map();
    const folds = [];
    rows.forEach((row, at) => {
      if (row.event === undefined) folds.push({ first: row.first, last: row.last, at });
      else rowOf.set(row.event, at);
    });
    const place = (id) => {
      if (rowOf.has(id)) return rowOf.get(id);
      const fold = folds.find((fold) => fold.first <= id && id <= fold.last);
      return fold ? fold.at : undefined;
    };
    const result = [];
    rows.forEach((row, to) => {
      if (row.event === undefined) return;
      const event = trace.events[row.event];
      for (const cause of event.causes || []) {
        const from = place(cause);
        if (from === undefined || from === to) continue;
        const source = trace.events[cause];
        if (source.actor === event.actor && event.sent_by !== cause) continue; // the lane itself shows this order
        result.push({ from, to, fromActor: source.actor, toActor: event.actor, message: event.sent_by === cause });
      }
    });
    return result;
  }

  /// Indexes arrows by the rows that they span.
  function index(arrows, rowCount) {
    const buckets = Array.from({ length: Math.ceil(Math.max(rowCount, 1) / BUCKET) }, () => []);
    const long = [];
    arrows.forEach((arrow, k) => {
      const [first, last] = [Math.floor(arrow.from / BUCKET), Math.floor(arrow.to / BUCKET)];
      if (last - first > 8) {
        // A long arrow is listed where it starts and ends only; in between it would be drawn over everything.
        long.push(k);
        buckets[first].push(k);
        buckets[last].push(k);
        return;
      }
      for (let b = first; b <= last; b += 1) buckets[b].push(k);
    });
    return { buckets, long };
  }

  /// Returns the indexes of the arrows to draw for the rows `first..=last`, at most `most` of them: those that end or
  /// start in the window come before those that only cross it.
  function visible(arrows, index, first, last, most = 600) {
    const seen = new Set();
    const [ends, crosses] = [[], []];
    const [b0, b1] = [Math.floor(Math.max(first, 0) / BUCKET), Math.floor(Math.max(last, 0) / BUCKET)];
    for (let b = b0; b <= b1 && b < index.buckets.length; b += 1) {
      for (const k of index.buckets[b]) {
        if (seen.has(k)) continue;
        seen.add(k);
        const { from, to } = arrows[k];
        if (to < first || from > last) continue;
        const inside = (from >= first && from <= last) || (to >= first && to <= last);
        (inside ? ends : crosses).push(k);
      }
    }
    return ends.concat(crosses).slice(0, most);
  }

  /// Returns the causal past of an event or of several, themselves included, as a set of ids.
  function past(trace, id) {
    const seen = new Set(Array.isArray(id) ? id : [id]);
    const stack = [...seen];
    while (stack.length > 0) {
      const event = trace.events[stack.pop()];
      for (const cause of (event.after || event.causes || [])) {
        if (!seen.has(cause)) {
          seen.add(cause);
          stack.push(cause);
        }
      }
    }
    return seen;
  }

  /// Lines up two executions by the identity of their events: a list of `[left, right]`, either of which may be
  /// `null`, in which both keep their order. Events with equal names that read the same are one event in both
  /// executions. Uses a longest increasing subsequence, so it is fast for thousands of events.
  function align(left, right) {
    const rightAt = new Map();
    const identity = (event) => `${event.name} ${event.text}`;
    right.forEach((event, k) => {
      if (event.name !== undefined && !rightAt.has(identity(event))) rightAt.set(identity(event), k);
    });
    const pairs = [];
    left.forEach((event, k) => {
      const other = event.name === undefined ? undefined : rightAt.get(identity(event));
      if (other !== undefined) pairs.push([k, other]);
    });
    const tails = [];
    const back = new Array(pairs.length).fill(-1);
    pairs.forEach(([, other], k) => {
      let [low, high] = [0, tails.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (pairs[tails[middle]][1] < other) low = middle + 1;
        else high = middle;
      }
      if (low > 0) back[k] = tails[low - 1];
      tails[low] = k;
    });
    const chosen = [];
    for (let k = tails.length > 0 ? tails[tails.length - 1] : -1; k !== -1; k = back[k]) chosen.push(pairs[k]);
    chosen.reverse();
    const result = [];
    let [l, r] = [0, 0];
    for (const [toLeft, toRight] of [...chosen, [left.length, right.length]]) {
      while (l < toLeft) result.push([l++, null]);
      while (r < toRight) result.push([null, r++]);
      if (toLeft < left.length) result.push([l++, r++]);
    }
    return result;
  }

  /// Returns the index of the first pair of `align` whose sides differ, or -1.
  function firstDifference(pairs) {
    return pairs.findIndex(([left, right]) => left === null || right === null);
  }

  /// Returns the rows that show pairs of `align` from `from` on: `{ at }` for a pair, and `{ left, right, common }` with
  /// the numbers of steps that are left out of a long run of pairs of the same kind. `common` tells if both have them.
  function clipped(pairs, from, most = 8) {
    const kind = ([left, right]) => (left === null ? "right" : right === null ? "left" : "both");
    const rows = [];
    for (let at = from; at < pairs.length; ) {
      let end = at;
      while (end < pairs.length && kind(pairs[end]) === kind(pairs[at])) end += 1;
      const shown = end - at <= most + 1 ? end : at + most / 2;
      for (let k = at; k < shown; k += 1) rows.push({ at: k });
      if (shown < end) {
        const rest = end === pairs.length ? end : end - most / 2;
        const out = rest - shown;
        rows.push({ left: kind(pairs[at]) === "right" ? 0 : out, right: kind(pairs[at]) === "left" ? 0 : out, common: kind(pairs[at]) === "both" });
        for (let k = rest; k < end; k += 1) rows.push({ at: k });
      }
      at = end;
    }
    return rows;
  }

  /// Places the nodes of a wait-for graph on a circle: `{ x, y }` in the unit square, the first one on top.
  function circle(count) {
    return Array.from({ length: count }, (_, k) => {
      const angle = (2 * Math.PI * k) / Math.max(count, 1) - Math.PI / 2;
      return { x: 0.5 + 0.38 * Math.cos(angle), y: 0.5 + 0.38 * Math.sin(angle) };
    });
  }

  /// Returns the events that match every word of a query: in their text, their message or their actor's name.
  function matches(trace, query) {
    const words = query.toLowerCase().split(/\s+/).filter((word) => word !== "");
    if (words.length === 0) return [];
    const found = [];
    trace.events.forEach((event, id) => {
      const text = [
        trace.actors[event.actor].name, event.kind, event.text, event.message?.type, event.message?.text,
        ...(event.effects || []).map((effect) => effect.text), ...(event.output || []),
      ].join(" ").toLowerCase();
      if (words.every((word) => text.includes(word))) found.push(id);
    });
    return found;
  }

  /// Lays out a tree of executions, given as steps with their `parent`: only forks and ends are kept, as a list of
  /// `{ id, parent, column, row, end }`, where `parent` is an index into this list or -1. Ends have a row each, in the
  /// order in which they were found; a fork is in the middle of what follows from it.
  function tree(nodes) {
    const children = nodes.map(() => []);
    const roots = [];
    nodes.forEach((node, id) => (node.parent === null ? roots : children[node.parent]).push(id));
    const items = [];
    let row = 0;
    // Without recursion: an execution may have thousands of steps.
    const stack = roots.slice().reverse().map((id) => ({ id, parent: -1, column: roots.length > 1 ? 1 : 0 }));
    const start = roots.length > 1 ? items.push({ id: null, parent: -1, column: 0, row: 0, end: null }) - 1 : -1;
    while (stack.length > 0) {
      let { id, parent, column } = stack.pop();
      while (children[id].length === 1 && nodes[id].end === null) [id] = children[id];
      const at = items.push({ id, parent: parent === -1 ? start : parent, column, row: 0, end: nodes[id].end }) - 1;
      for (const child of children[id].slice().reverse()) stack.push({ id: child, parent: at, column: column + 1 });
      if (children[id].length === 0) items[at].row = row++;
    }
    const spans = items.map((item) => (item.id !== null && children[item.id].length === 0 ? [item.row, item.row] : [Infinity, -Infinity]));
    for (let at = items.length - 1; at >= 0; at -= 1) {
      const [low, high] = spans[at];
      items[at].row = (low + high) / 2;
      const { parent } = items[at];
      if (parent >= 0) spans[parent] = [Math.min(spans[parent][0], items[at].row), Math.max(spans[parent][1], items[at].row)];
    }
    return { items, rows: row, columns: Math.max(0, ...items.map((item) => item.column)) + 1 };
  }

  /// Lays out an event structure in layers: every event is one layer below the lowest of its causes, and beside the
  /// events that have neighbouring causes. Returns the `layer` and the `place` of each event.
  function layers(events) {
    const places = [];
    const rowsOf = [];
    events.forEach((event, id) => {
      const layer = event.causes.length === 0 ? 0 : Math.max(...event.causes.map((cause) => places[cause].layer)) + 1;
      places[id] = { layer, place: 0 };
      (rowsOf[layer] ??= []).push(id);
    });
    const middle = (id) => {
      const { causes } = events[id];
      return causes.length === 0 ? 0 : causes.reduce((sum, cause) => sum + places[cause].place, 0) / causes.length;
    };
    for (const row of rowsOf) {
      row.sort((a, b) => middle(a) - middle(b) || a - b);
      row.forEach((id, k) => (places[id].place = k));
    }
    return { places, layers: rowsOf.length, widest: Math.max(0, ...rowsOf.map((row) => row.length)) };
  }

  return { BUCKET, tree, layers, rows, asides, type, lanes, arrows, index, visible, past, align, firstDifference, clipped, circle, matches };
})();
