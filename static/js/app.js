// What HTML and htmx cannot do: single-key shortcuts, copying, and where focus goes after an answer.
(() => {
  const $ = (selector, root = document) => (selector ? root.querySelector(selector) : null);
  const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

  function say(text) {
    const live = $("#live");
    live.textContent = "";
    requestAnimationFrame(() => { live.textContent = text; });
  }

  // An answer's heading takes focus and is read out.
  function head(slip) {
    const h2 = $("h2[tabindex]", slip);
    if (!h2) return;
    h2.focus();
    say(h2.textContent.trim());
  }

  // -- copying ----------------------------------------------------------------------------------------------------------

  function copy(button) {
    const { copy: from, text } = button.dataset;
    const source = from && $(from);
    const wanted = text ?? source.dataset.exact ?? source.textContent.trim();
    const byHand = () => (copied(wanted) ? say("Copied") : select(source));
    if (navigator.clipboard) navigator.clipboard.writeText(wanted).then(() => say("Copied"), byHand);
    else byHand();
  }

  // A browser lends the clipboard only to https and to this machine: elsewhere it copies what is selected.
  function copied(text) {
    const field = Object.assign(document.createElement("textarea"), { value: text, className: "vh" });
    const from = document.activeElement;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    from.focus();
    return done;
  }
  function select(source) {
    if (!source) return say("This browser does not let a page copy");
    getSelection().selectAllChildren(source);
    say("Selected. Press Ctrl C to copy");
  }

  // -- ticks: which rows a press acts on ------------------------------------------------------------------------------------

  const boxes = () => $$("#results input[name=entry]");
  let last = null; // the box that was ticked last: shift goes on from there

  function count() {
    const all = boxes();
    const n = all.filter((box) => box.checked).length;
    const whole = $("[data-pick-all]");
    $$("[data-sel-count]").forEach((each) => { each.textContent = n; });
    if (whole) Object.assign(whole, { checked: n > 0 && n === all.length, indeterminate: n > 0 && n < all.length });
    return n;
  }
  function tick(some, checked) {
    some.forEach((box) => { box.checked = checked; });
    say(`${count()} selected`);
  }
  function upTo(box) {
    const all = boxes();
    const [from, to] = [all.indexOf(last), all.indexOf(box)].sort((a, b) => a - b);
    if (from >= 0) tick(all.slice(from, to + 1), box.checked);
  }
  function tickHere(range) {
    const box = document.activeElement.closest("tr.row")?.querySelector("input[name=entry]");
    if (!box) return;
    box.checked = range || !box.checked;
    if (range) upTo(box);
    last = box;
    say(`${count()} selected`);
  }
  document.addEventListener("change", ({ target }) => {
    if (target.matches("[data-pick-all]")) tick(boxes(), target.checked);
    if (target.matches("#results input[name=entry]")) count();
  });
  document.addEventListener("click", ({ target, shiftKey }) => {
    if (target.closest("[data-clear]")) { tick(boxes(), false); $(".rows .open")?.focus(); }
    target.closest("[data-dismiss]")?.closest(".toast").remove();
    if (!target.matches("#results input[name=entry]")) return;
    if (shiftKey) upTo(target);
    last = target;
  });
  addEventListener("pageshow", count); // a browser that goes back may keep the ticks

  // -- how pages look: the server keeps it in cookies and prints it into them, so none flashes ------------------------------

  document.addEventListener("htmx:afterRequest", ({ detail: { elt, successful, requestConfig } }) => {
    if (!successful || !elt.matches("[data-display]")) return;
    const { name, value } = requestConfig.triggeringEvent.submitter;
    if (value) document.documentElement.dataset[name] = value;
    else delete document.documentElement.dataset[name];
    $$(`[name="${name}"]`, elt).forEach((each) => each.setAttribute("aria-pressed", String(each.value === value)));
  });

  const here = $("[data-as-here]"), zones = $("#choose-zone"); // offered: nobody's times change by themselves
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  if (here && [...zones.options].some(({ value }) => value === timeZone)) {
    Object.assign(here, { hidden: false, textContent: `${timeZone}, as on this device` });
  }

  document.addEventListener("click", ({ target }) => {
    target.closest("[data-close]")?.closest("dialog").close();
    if (target.closest("[data-shortcuts]")) $("#keys").showModal();
    if (here && target === here) zones.value = timeZone;
    const button = target.closest("[data-copy],[data-text]");
    if (button) copy(button);
  });

  // A download leaves the page as it is: nothing else would close what asked for it.
  document.addEventListener("submit", ({ target }) => {
    if (target.matches("[data-download]")) target.closest("dialog")?.close();
  });

  // -- single keys: they move focus and open, none acts by itself ------------------------------------------------------------

  const keysAreOff = () => document.documentElement.dataset.keys === "off";

  function step(by) {
    const links = $$("tr .open");
    const at = links.indexOf(document.activeElement.closest("tr")?.querySelector(".open"));
    const next = links[at + by] ?? (at < 0 && links[0]);
    if (next) {
      next.focus();
      next.scrollIntoView({ block: "nearest" });
    } else if (!links.length) {
      $(by > 0 ? "main [rel=next]" : "main [rel=prev]")?.click();
    }
  }

  function onward() { // what is new on a list; from an entry the next older one
    const link = $("#show, .crumbs [rel=next]");
    if (link) link.click();
    else if ($("#action")) say("No older entry");
  }

  function escape() {
    const account = $(".account[open]");
    if (account) {
      account.open = false;
      $("summary", account).focus();
    } else if (boxes().some((box) => box.checked)) {
      tick(boxes(), false);
    } else {
      document.activeElement?.blur();
    }
  }

  const pressed = {
    j: () => step(1),
    k: () => step(-1),
    r: () => $("#redrive")?.focus(),
    p: () => $("#purge")?.focus(),
    n: onward,
    x: () => tickHere(false),
    X: () => tickHere(true),
    "/": () => $("#q")?.focus(),
    "?": () => $("#keys").showModal(),
    Escape: escape,
  };

  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input:not([type=checkbox]),textarea,select,dialog,[contenteditable]");
    if (event.ctrlKey || event.metaKey || event.altKey || typing || !Object.hasOwn(pressed, event.key)) return;
    if (keysAreOff() && event.key !== "Escape") return;
    event.preventDefault();
    pressed[event.key]();
  });

  // -- htmx ------------------------------------------------------------------------------------------------------------------

  document.addEventListener("htmx:afterSettle", (event) => {
    const target = event.detail.target;
    if (target?.id === "dialog") ask($("#dialog dialog"), event.detail.requestConfig.elt);
    else if (["action", "results", ...PANELS].includes(target?.id)) $("#dialog").replaceChildren(); // it has its answer
    if (target?.id === "action") head($("#action")); // the old one is gone: its place holds the answer
    if (target?.id === "purging") head($("#purging")); // it stopped
    if (PANELS.includes(target?.id) && !$(`#${target.id} [hx-trigger*=load]`)) head($(`#${target.id}`)); // nor does it go on
    if (target?.id === "follow") sayOnce($("#follow")?.dataset.say);
    if (target?.id === "fresh") sayOnce($(".fresh span")?.textContent);
    if (target?.id === "results") {
      count();
      if ($("#tally-h")) head($("#results"));
      else say($("#results").dataset.say);
      const from = event.detail.requestConfig?.elt; // it may be gone by now, and with it what it stood in
      if (from?.closest(".pager")) ($(".rows .open") ?? $("#results"))?.focus();
      if (from?.closest("#queues")) $("#queues [aria-current]")?.focus();
      if (from?.closest("#queue-choice")) $("#queue-choice summary")?.focus();
    }
    if (target?.id === "records") {
      if ($("#tally-h")) return head($("#records"));
      say($("#records").dataset.say);
      if (event.detail.requestConfig?.elt.closest("#records, .pager")) $("#records").focus();
    }
  });

  // Its button was disabled while it asked, so the browser does not know any more where focus came from.
  function ask(dialog, button) {
    dialog.addEventListener("close", () => {
      $("#planning", dialog)?.remove(); // it would go on looking, for nobody
      button.focus();
    });
    dialog.showModal();
  }

  // Where a phone lays a table out in another way, some browsers forget that it is one.
  const ROLES = { TABLE: "table", THEAD: "rowgroup", TBODY: "rowgroup", TR: "row", TD: "cell" };
  document.addEventListener("htmx:load", ({ target }) => {
    $$(".t, .t *", target).forEach((each) => { if (each.tagName in ROLES) each.role = ROLES[each.tagName]; });
    $$(".t th", target).forEach((each) => { each.role = each.scope === "col" ? "columnheader" : "rowheader"; });
  });

  // Where a redriven job is now is asked again and again: not in a tab that nobody sees. Of its way only the end is read out.
  // What is new, and what is counted, not while somebody selects or answers a question either.
  document.addEventListener("htmx:beforeRequest", (event) => {
    const { elt } = event.detail;
    const waits = (elt.id === "follow" && document.hidden) || (elt.matches("[data-quiet]") && (document.hidden || busy()));
    if (waits) event.preventDefault();
  });
  const busy = () => $("dialog[open]") || !getSelection().isCollapsed || boxes().some((box) => box.checked);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && $("#fresh")) htmx.trigger("#fresh", "look");
  });

  // A question that nobody asked leads nowhere when it is not answered: the page says so, and the next answer takes that back.
  document.addEventListener("htmx:beforeOnLoad", (event) => {
    const { elt, xhr } = event.detail;
    if (!elt.matches("[data-quiet]") || xhr.status < 400) return;
    event.preventDefault();
    unanswered(elt);
  });
  function unanswered(elt) {
    if (elt.id === "fresh") stale(elt);
    else elt.setAttribute("data-unanswered", "");
  }
  function stale(fresh) { // nothing new is no answer in its place, so it asks in another way
    const told = fresh.cloneNode();
    told.setAttribute("hx-get", `${fresh.getAttribute("hx-get").replace("&stale=1", "")}&stale=1`);
    told.append(Object.assign(document.createElement("span"), { className: "stale", textContent: $("#results").dataset.stale }));
    fresh.replaceWith(told);
    htmx.process(told);
  }
  let said;
  function sayOnce(text) {
    if (text && text !== said) say(text);
    said = text;
  }
  function stand(follow) { // what was seen last stays, with its time; nobody asks any more
    const still = follow.cloneNode(true);
    still.removeAttribute("hx-get");
    follow.replaceWith(still);
  }

  // A proxy before us answers in pages of its own: what is put in the place of an element holds that element anew.
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    const { id } = detail.target;
    if (!detail.shouldSwap || !HELD.includes(id)) return;
    const whole = id === "dialog" ? "<dialog " : `id="${id}"`;
    if (!detail.serverResponse.includes(whole)) Object.assign(detail, { shouldSwap: false, isError: true });
  });

  // No answer that can be shown. Slips that say so lie in the page, with the same operation; without them it is loaded.
  function untold(event, slip) {
    const { target, requestConfig: { verb, path, elt } } = event.detail;
    if (target?.id === "follow") return stand(target);
    if (elt.matches("[data-quiet]")) return unanswered(elt);
    const own = slip && slip !== "#signed-out" ? elt.closest("[data-untold]")?.dataset.untold : "";
    const told = target?.id === "action" && $(own ? `${slip}-${own}` : slip)?.content.firstElementChild.cloneNode(true);
    if (told) {
      if (own) carry(new FormData(elt), told);
      $("#dialog").replaceChildren();
      $("#action").replaceWith(told);
      htmx.process(told);
      head(told);
    } else if (verb === "get") {
      location.assign(path);
    } else {
      plainly(elt); // the same operation, so it cannot run twice
    }
  }
  function carry(given, slip) { // what was answered goes with the next press
    $$("[name=reason],[name=for_good],[name=count]", slip).forEach((field) => { field.value = given.get(field.name) ?? ""; });
  }
  function plainly(elt) {
    const form = elt.form ?? elt;
    if (elt.hasAttribute("formaction")) form.action = elt.formAction;
    if (elt.name) form.append(Object.assign(document.createElement("input"), { type: "hidden", name: elt.name, value: elt.value }));
    form.submit();
  }
  document.addEventListener("htmx:sendError", (event) => untold(event, "#lost"));
  document.addEventListener("htmx:timeout", (event) => untold(event, "#lost"));
  document.addEventListener("htmx:responseError", (event) => {
    const { xhr: { status }, requestConfig: { verb } } = event.detail;
    const slips = { 401: verb === "get" ? "" : "#signed-out", 500: "#mistake" };
    untold(event, slips[status] ?? "#lost");
  });

  // -- ledgers: numbers that are asked for again and again, and panels of which each answers its own presses -----------------

  const PANELS = ["gate", "repair", "expire", "prune", "quarantined"];
  const HELD = ["action", "results", "records", "fresh", "groups", "follow", "planning", "purging", "dialog",
    "ledgers", "numbers", "requests", "lease", ...PANELS];

  if (matchMedia("(width < 56rem)").matches) $$("[data-shut-on-phone]").forEach((details) => { details.open = false; });
})();
