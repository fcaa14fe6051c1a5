// The explorer's page: shows one configuration of the program and lets the reader go on, back, or elsewhere.
//
// The server keeps nothing but the machine. A configuration is named by its steps, for example `0.2.1`: the number of the
// choice at each step. The address of the page has them, so it can be shared, and the browser's own back button works.
"use strict";
(() => {
  const G = globalThis.WhippetGraphs;
  const { make } = globalThis.WhippetDiagram;
  const V = globalThis.WhippetValues;
  const $ = (id) => document.getElementById(id);

  /// The configuration that is shown, the previous states of its actors, and the progress of the search.
  let here = null, before = new Map(), progress = null, nodes = [];
  /// The races of each step with earlier ones.
  let racesOf = new Map(), bad = new Map();
  /// Requests are answered in order; a newer wish makes older answers obsolete.
  let newest = 0;

  const number = (n) => Math.round(n).toLocaleString("en");
  const count = (n, word) => `${number(n)} ${word}${n === 1 ? "" : "s"}`;
  const stepsOf = (text) => (text === "" ? [] : text.split("."));
  const actorName = (id) => (id === undefined || id === null ? "the test" : here.trace.actors[id].name);
  const told = (event) => `${actorName(event.actor)} ${event.text}`;

  const diagram = globalThis.WhippetDiagram.create(
    { view: $("steps"), names: $("lane-names"), rows: $("rows"), svg: $("diagram"), texts: $("texts") },
    { selected: detail, badges },
  );

  // ---- talking to the server -----------------------------------------------------------------------------------

  /// Sends a request; the answer is a `Response` if it is fine, and otherwise an error with the server's text.
  async function post(path, wish = {}) {
    let response;
    try {
      response = await fetch(path, { method: "POST", body: JSON.stringify(wish), headers: { "Content-Type": "application/json" } });
    } catch {
      throw new Error("the program is not running any more: start `whippet serve` again");
    }
    if (!response.ok) throw new Error(await response.text());
    return response;
  }

  function say(text, good = false) {
    $("message").hidden = text === "";
    $("message").classList.toggle("good", good);
    $("message").textContent = text;
  }

  /// Goes to a configuration, and shows it. `move` is `push` for a new entry in the browser's history, else `replace`.
  async function go(path, wish, { move = "push", select = -1 } = {}) {
    const mine = (newest += 1);
    document.body.setAttribute("aria-busy", "true");
    try {
      const next = await (await post(path, wish)).json();
      if (mine !== newest) return false;
      show(next, select);
      const address = `#${addressOf(next)}`;
      if (move === "push" && address !== location.hash) history.pushState(null, "", address);
      else history.replaceState(null, "", address);
      say("");
      return true;
    } catch (error) {
      if (mine === newest) say(error.message);
      return false;
    } finally {
      if (mine === newest) document.body.removeAttribute("aria-busy");
    }
  }

  /// Returns the part of the address that names a configuration: the steps, and the name of the last event, which tells
  /// if the program has changed.
  function addressOf(configuration) {
    const last = configuration.trace.events.at(-1);
    return configuration.steps === "" ? "" : `s=${configuration.steps}&e=${last.name}`;
  }

  async function load() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    const [steps, event] = [wanted.get("s") ?? "", wanted.get("e")];
    const arrived = await go("at", { steps }, { move: "replace" });
    if (!arrived && here === null) await start();
    else if (arrived && event !== null && here.trace.events.at(-1)?.name !== event) {
      say("The program has changed since this address was made: these are other steps.");
    }
  }

  async function start() {
    const why = $("message").textContent;
    await go("at", { steps: "" }, { move: "replace" });
    say(why);
  }

  // ---- moving ----------------------------------------------------------------------------------------------------

  const first = (n) => stepsOf(here.steps).slice(0, n).join(".");
  const take = (choice) => go("at", { steps: [...stepsOf(here.steps), choice.step].join(".") });
  const back = (n) => n < here.trace.events.length && go("at", { steps: first(Math.max(0, n)) });
  const undo = () => back(here.trace.events.length - 1);
  const toEnd = () => go("end", { steps: here.steps });
  const reverse = (first, second) => go("reverse", { steps: here.steps, first, second }, { select: first });

  // ---- the current configuration ---------------------------------------------------------------------------------

  function show(next, select) {
    before = new Map((here?.states ?? []).map((state) => [state.actor, state]));
    if (here === null) before = null;
    here = next;
    racesOf = new Map();
    for (const [earlier, later] of here.races) racesOf.set(later, [...(racesOf.get(later) ?? []), earlier]);
    bad = new Map();
    const found = here.problems.filter((problem) => !problem.warning);
    for (const problem of found.length > 0 ? found : here.problems) for (const id of problem.events) bad.set(id, problem.kind);
    const length = here.trace.events.length;
    $("steps").classList.toggle("empty", length === 0);
    diagram.show(here.trace, { keepOpen: true });
    $("position").textContent = length === 0 ? "at the start" : `after ${count(length, "step")}`;
    $("back").disabled = $("start").disabled = length === 0;
    $("end").disabled = here.choices.length === 0;
    problems();
    choices();
    states();
    markTree();
    if (length > 0) diagram.select(select >= 0 ? Math.min(select, length - 1) : length - 1);
    else detail(-1);
  }

  function badges(id) {
    const marks = [];
    const earlier = racesOf.get(id);
    if (earlier) {
      const nearest = earlier.at(-1);
      marks.push(["race", "⇄", `What if step ${id + 1} came before step ${nearest + 1}?`, () => reverse(nearest, id)]);
    }
    if (bad.has(id)) marks.push(["bad", bad.get(id)]);
    return marks;
  }

  function problems() {
    const line = (problem) => {
      const [text, className] = [`${problem.warning ? "warning: " : ""}${problem.kind}: `, problem.warning ? "problem warning" : "problem"];
      if (problem.waits.length === 0) return make("p", { className }, `${text}${problem.message}${problem.place ? ` at ${problem.place}` : ""}`);
      const waits = problem.waits.map((wait) => make("li", {}, make("strong", {}, wait.actor), ` ${wait.text}`));
      return make("div", { className }, `${text}${waits.length === 1 ? "an actor waits" : `${waits.length} actors wait`} forever`, make("ul", {}, ...waits));
    };
    const warnings = here.problems.filter((problem) => problem.warning);
    const lines = here.problems.filter((problem) => !problem.warning).map(line);
    // Beside what is wrong, warnings about the same are of less interest.
    if (lines.length > 0 && warnings.length > 1) lines.push(make("details", {}, make("summary", {}, count(warnings.length, "warning")), ...warnings.map(line)));
    else lines.push(...warnings.map(line));
    if (here.choices.length === 0 && !here.problems.some((problem) => !problem.warning)) {
      lines.push(make("p", { className: "good" }, here.trace.events.length === 0 ? "Nothing can happen: the program has no step." : "The execution ends here, and nothing is wrong."));
    }
    $("problems").replaceChildren(...lines);
    $("next-title").textContent = here.choices.length === 0 ? "The end" : "What happens next?";
  }

  function choices() {
    $("choices").replaceChildren(...here.choices.map((choice, k) => {
      const changes = choice.changes.map((change) => make("span", { className: "change" }, `${change.field === "" ? "" : `${change.field}: `}${change.before} → ${change.after}`));
      const then = [choice.effects.join(" · "), choice.remark].filter(Boolean).join(" · ");
      const button = make("button", { title: choice.origin ?? "" },
        make("span", { className: "key", "aria-hidden": "true" }, String(k + 1)),
        make("span", {}, make("span", { className: "who" }, choice.actor), ` ${choice.action}${choice.from ? ` from ${choice.from}` : ""}`, ...changes),
        then === "" ? null : make("span", { className: "then" }, then),
        choice.problem ? make("span", { className: "fails" }, `${choice.problem.kind}: ${choice.problem.message.split("\n")[0]}`) : null);
      button.addEventListener("click", () => take(choice));
      return make("li", {}, button);
    }));
  }

  /// Shows every actor with its state and the messages that wait for it. What the last move changed is marked.
  function states() {
    if (here.states.length === 0) {
      $("states").replaceChildren(make("p", { className: "status" }, "This kind of program does not tell the states of its actors; the steps show what they do."));
      return;
    }
    const lines = here.states.map((state) => {
      const old = before === null ? null : before.get(state.actor);
      const value = state.state === undefined ? null : V.show(V.diff(old?.state, state.state));
      const pending = (state.pending ?? []).map((text) => make("code", {}, text));
      return make("tr", {}, make("th", { scope: "row" }, state.actor),
        make("td", {}, value, state.status ? make("span", { className: "status" }, state.status) : null), make("td", {}, ...pending));
    });
    const head = make("thead", {}, make("tr", {}, ...["actor", "state", "not yet received"].map((name) => make("th", { scope: "col" }, name))));
    $("states").replaceChildren(make("table", {}, head, make("tbody", {}, ...lines)));
  }

  // ---- the selected step -----------------------------------------------------------------------------------------

  function action(text, work, className = "") {
    const button = make("button", { className }, text);
    button.addEventListener("click", work);
    return button;
  }

  function detail(id) {
    if (id < 0) {
      $("detail").replaceChildren(make("h2", {}, "The first configuration"),
        make("p", {}, "Take a choice below, or jump to a finding or to an execution at the bottom of the page."));
      return;
    }
    const event = here.trace.events[id];
    const last = id === here.trace.events.length - 1;
    const list = (title, items) => (items.length === 0 ? [] : [make("h3", {}, title), make("ul", {}, ...items.map((item) => make("li", {}, item)))]);
    const races = (racesOf.get(id) ?? []).map((earlier) =>
      action(`⇄ What if this came before ${earlier + 1}. ${told(here.trace.events[earlier])}?`, () => reverse(earlier, id), "race"));
    const later = here.races.filter(([earlier]) => earlier === id).map(([, second]) =>
      action(`⇄ What if ${second + 1}. ${told(here.trace.events[second])} came before this?`, () => reverse(id, second), "race"));
    const goTo = (other) => {
      const anchor = make("a", { href: "#steps" }, `${other + 1}. ${told(here.trace.events[other])}`);
      anchor.addEventListener("click", (click) => { click.preventDefault(); diagram.select(other); });
      return anchor;
    };
    const place = event.place ?? event.sent_at;
    $("detail").replaceChildren(
      make("h2", {}, `${id + 1}. ${told(event)}`),
      make("p", {}, [event.from !== undefined ? `from ${actorName(event.from)}` : "", place ? `${event.place ? "at" : "sent at"} ${place}` : ""].filter(Boolean).join(", ")),
      make("div", { className: "actions" }, action("Go back to before it", () => back(id)), last ? null : action("Go back to after it", () => back(id + 1)), ...races, ...later),
      ...list("Then", (event.effects ?? []).map((effect) => effect.text)),
      ...(event.state ? [make("h3", {}, "State"), make("div", { className: "tree" }, V.show(V.diff(event.state.before, event.state.after)))]
        : list("State", (event.changes ?? []).map((change) => `${change.field === "" ? "" : `${change.field}: `}${change.before} → ${change.after}`))),
      ...list("Because of", (event.causes ?? []).map(goTo)),
      ...list("Touches", (event.touches ?? []).map((touch) => `${touch.access}s ${touch.object}${touch.place ? ` at ${touch.place}` : ""}`)),
    );
  }

  // ---- the search in the background ------------------------------------------------------------------------------

  async function watch() {
    try {
      const report = await (await post("search", { known: nodes.length })).json();
      progress = report;
      if (report.tree) nodes = report.tree;
      status();
      findings();
      if (report.tree) tree();
      setTimeout(watch, report.running ? 300 : 3000);
    } catch (error) {
      $("searching").textContent = error.message;
      setTimeout(watch, 3000);
    }
  }

  function status() {
    const { running, executions, rate, findings, estimate, error, complete, limits } = progress;
    const wrong = findings.filter((finding) => !finding.warning).length;
    const found = make("span", { className: wrong > 0 ? "bad" : "" }, wrong === 0 ? "nothing found" : count(wrong, "finding"));
    const parts = [make("strong", {}, count(executions, "execution"))];
    if (running && rate) parts.push(`${number(rate)} per second`);
    if (running && estimate) parts.push(`of about ${number(estimate)}`);
    parts.push(found);
    if (!running && !error) parts.push(complete ? make("span", { className: "good" }, "every order was covered") : `not every order was covered${limits.length > 0 ? ` (${limits.join(", ")})` : ""}`);
    if (error) parts.splice(0, parts.length, make("span", { className: "bad" }, `no verdict: ${error}`));
    const words = parts.flatMap((part, k) => (k === 0 ? [part] : [" · ", part]));
    $("searching").replaceChildren(running ? "searching: " : "", ...words);
    // Numbers that change several times a second are not read out; the end of the search is.
    $("searching").setAttribute("aria-live", running ? "off" : "polite");
    $("share").hidden = !(running && estimate);
    $("share").value = Math.min(1, executions / (estimate || 1));
    $("search-button").hidden = false;
    $("search-button").textContent = running ? "Stop" : "Search again";
  }

  let shownFindings = null;

  function findings() {
    const text = JSON.stringify([progress.findings, progress.notes, progress.running]);
    if (text === shownFindings) return;
    shownFindings = text;
    const wrong = progress.findings.filter((finding) => !finding.warning).length;
    $("tab-findings").textContent = wrong > 0 ? `Findings (${wrong})` : "Findings";
    const buttons = progress.findings.map((finding, k) => {
      const button = make("button", {}, make("span", { className: finding.warning ? "kind warning" : "kind" }, finding.warning ? `warning: ${finding.kind}` : finding.kind), ` ${finding.message.split("\n")[0]} `,
        make("span", { className: "soft" }, finding.steps === undefined ? "" : `${count(finding.steps, "step")}, in ${count(finding.executions, "execution")}`));
      button.addEventListener("click", () => go("finding", { number: k }).then(toTop));
      return make("li", {}, button);
    });
    const none = progress.running ? "Nothing has been found so far." : "Nothing was found.";
    const notes = (progress.notes ?? []).map((note) => make("p", { className: "soft" }, note));
    $("findings").replaceChildren(buttons.length > 0 ? make("ul", {}, ...buttons) : make("p", {}, none), ...notes);
  }

  const toTop = (arrived) => arrived && scrollTo({ top: 0 });

  /// Draws the forks and the ends of the executions.
  function tree() {
    if ($("tree").hidden) return;
    const svg = G.tree(nodes, (id) => go(...(id === null ? ["at", { steps: "" }] : ["node", { number: id }])));
    const all = progress?.executions ?? 0;
    const note = `${count(progress?.kept ?? 0, "execution")} of ${number(all)}: forks are decisions, ● passes, ■ fails. Click one to go there.`;
    $("tree").replaceChildren(make("p", { className: "soft" }, note), svg);
  }

  /// Another configuration than the one that was chosen in the tree is shown.
  function markTree() {
    for (const other of $("tree").querySelectorAll(".here")) other.classList.remove("here");
  }

  let unfolded = false;

  async function unfolding() {
    if (unfolded) return;
    unfolded = true;
    $("unfolding").replaceChildren(make("p", { className: "soft" }, "Unfolding …"));
    try {
      const { events } = await (await post("unfolding")).json();
      if (events.length > 400) throw new Error(`the unfolding has ${number(events.length)} events: too many for a picture. The command \`unfold\` prints them`);
      const note = `${count(events.length, "event")}: a line leads from a cause down to its effect; no execution has both ends of a dashed line.`;
      $("unfolding").replaceChildren(make("p", { className: "soft" }, note), G.unfolding(events));
    } catch (error) {
      unfolded = false;
      $("unfolding").replaceChildren(make("p", {}, error.message));
    }
  }

  const TABS = ["findings", "tree", "unfolding"];

  function openTab(name) {
    for (const tab of TABS) {
      $(tab).hidden = tab !== name;
      $(`tab-${tab}`).setAttribute("aria-selected", String(tab === name));
      $(`tab-${tab}`).tabIndex = tab === name ? 0 : -1;
    }
    if (name === "tree") tree();
    if (name === "unfolding") unfolding();
  }

  // ---- downloads, keys -------------------------------------------------------------------------------------------

  async function download(path, ending) {
    try {
      const blob = await (await post(path, { steps: here.steps })).blob();
      const anchor = make("a", { href: URL.createObjectURL(blob), download: `whippet${ending}` });
      anchor.click();
      setTimeout(() => URL.revokeObjectURL(anchor.href), 10000);
    } catch (error) {
      say(error.message);
    }
  }

  async function copyLink() {
    try {
      await navigator.clipboard.writeText(location.href);
      say("Copied. The address works as long as the explorer runs; without the part before # it works with another one of the same program.", true);
    } catch {
      say("The browser does not allow to copy: the address line has the link.");
    }
  }

  async function upload() {
    const [file] = $("upload").files;
    if (!file) return;
    try {
      const schedule = JSON.parse(await file.text());
      await go("follow", { schedule });
    } catch (error) {
      say(`${file.name} is not a schedule: ${error.message}`);
    }
    $("upload").value = "";
  }

  function help() {
    $("help").hidden = !$("help").hidden;
    $("help-button").setAttribute("aria-expanded", String(!$("help").hidden));
  }

  function reverseSelected() {
    const earlier = racesOf.get(diagram.selected);
    if (earlier) reverse(earlier.at(-1), diagram.selected);
    else say("The selected step is in no race with an earlier one.");
  }

  function keys(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || here === null) return;
    const { tagName } = event.target;
    if (tagName === "INPUT" || tagName === "SELECT") return;
    if (event.target.getAttribute?.("role") === "tab") {
      const at = TABS.findIndex((tab) => `tab-${tab}` === event.target.id);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1 }[event.key];
      if (to !== undefined) {
        event.preventDefault();
        const name = TABS.at(to % TABS.length);
        openTab(name);
        $(`tab-${name}`).focus();
        return;
      }
    }
    const at = diagram.selected;
    const actions = {
      ArrowDown: () => diagram.select(at + 1), j: () => diagram.select(at + 1), ArrowUp: () => diagram.select(at - 1), k: () => diagram.select(at - 1),
      Home: () => back(0), u: undo, Backspace: undo, e: () => here.choices.length > 0 && toEnd(), r: reverseSelected, "?": help,
    };
    if (tagName !== "BUTTON" && tagName !== "A" && tagName !== "LABEL") actions.Enter = () => back(at + 1);
    if (/^[1-9]$/.test(event.key) && here.choices[Number(event.key) - 1]) actions[event.key] = () => take(here.choices[Number(event.key) - 1]);
    // Arrows scroll the other panels.
    if (event.key.startsWith("Arrow") && event.target.closest?.("[role=tabpanel]")) return;
    if (actions[event.key]) {
      event.preventDefault();
      actions[event.key]();
    }
  }

  $("start").addEventListener("click", () => back(0));
  $("back").addEventListener("click", undo);
  $("end").addEventListener("click", toEnd);
  $("share-link").addEventListener("click", copyLink);
  $("schedule").addEventListener("click", () => download("schedule", ".json"));
  $("report").addEventListener("click", () => download("report", ".html"));
  $("upload").addEventListener("change", upload);
  $("help-button").addEventListener("click", help);
  $("search-button").addEventListener("click", async () => {
    await post(progress?.running ? "stop" : "restart").catch((error) => say(error.message));
  });
  for (const tab of TABS) $(`tab-${tab}`).addEventListener("click", () => openTab(tab));
  addEventListener("keydown", keys);
  addEventListener("popstate", load);

  post("program").then((response) => response.json()).then(({ name, parameters, reduction }) => {
    document.title = `Whippet: ${name}`;
    const settings = [...parameters.map(([key, value]) => `${key}=${value}`), reduction].join(" · ");
    $("title").replaceChildren(name, " ", make("small", {}, settings));
  }).catch((error) => say(error.message));
  load();
  watch();
})();
