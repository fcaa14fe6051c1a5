// Layout of the space-time diagram: pure functions from a trace to rows, lanes and arrows.
//
// Time runs downwards, one row per event (or per folded repetition), and every actor has a vertical lane. Nothing here
// touches the document, so that `layout.test.mjs` can test it in Node.
"use strict";
globalThis.WhippetLayout = (() => {
  /// Rows per bucket of the arrow index: a window of rows looks at few buckets, however long the trace is.
  const BUCKET = 64;

  /// Returns the rows to show: one for each event, and one for each folded repetition. `open` is the set of
  /// repetitions (by index) that the reader has unfolded; `keep` decides which events are shown at all.
  function rows(trace, open = new Set(), keep = () => true) {
    const result = [];
    const repeats = trace.repeats || [];
    let next = 0;
    for (let id = 0; id < trace.events.length; ) {
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

  /// Returns the causal past of an event, itself included, as a set of ids.
  function past(trace, id) {
    const seen = new Set([id]);
    const stack = [id];
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
  /// `null`, in which both keep their order. Events with equal names are one event in both executions. Uses a longest
  /// increasing subsequence, so it is fast for thousands of events.
  function align(left, right) {
    const rightAt = new Map();
    right.forEach((event, k) => {
      if (event.name !== undefined && !rightAt.has(event.name)) rightAt.set(event.name, k);
    });
    const pairs = [];
    left.forEach((event, k) => {
      const other = event.name === undefined ? undefined : rightAt.get(event.name);
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

  return { BUCKET, rows, lanes, arrows, index, visible, past, align, firstDifference, circle, matches };
})();
