// What HTML and htmx cannot do: theme, single-key shortcuts, copying, and where focus goes after an answer.
(() => {
  const $ = (selector, root = document) => root.querySelector(selector);
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
    const wanted = text ?? source.textContent.trim();
    if (navigator.clipboard) {
      navigator.clipboard.writeText(wanted).then(() => say("Copied"), () => select(source));
    } else {
      select(source);
    }
  }

  // A browser lends the clipboard only to https and to this machine: elsewhere the text is selected, and a key copies it.
  function select(source) {
    if (!source) return;
    getSelection().selectAllChildren(source);
    say("Selected. Press Ctrl C to copy");
  }

  // -- theme: the server reads this cookie and prints data-theme, so no page flashes --------------------------------------

  function setTheme(button) {
    const theme = button.dataset.setTheme;
    document.cookie = `theme=${theme};path=/;max-age=${theme ? 31536000 : 0};samesite=lax`;
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    $$("[data-set-theme]").forEach((each) => each.setAttribute("aria-pressed", String(each === button)));
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy],[data-text],[data-set-theme]");
    if (!button) return;
    if ("setTheme" in button.dataset) setTheme(button);
    else copy(button);
  });

  // -- single keys: they move focus and open, none acts by itself ------------------------------------------------------------

  let keys = localStorage.getItem("keys") !== "off";
  const toggle = $("[data-keys-toggle]");
  if (toggle) {
    toggle.checked = keys;
    toggle.addEventListener("change", () => {
      keys = toggle.checked;
      localStorage.setItem("keys", keys ? "on" : "off");
    });
  }

  function step(by) {
    const links = $$(".rows .open");
    const at = links.indexOf(document.activeElement);
    const next = links[at + by] ?? (at < 0 && links[0]);
    if (next) {
      next.focus();
      next.scrollIntoView({ block: "nearest" });
    } else if (!links.length) {
      $(by > 0 ? "main [rel=next]" : "main [rel=prev]")?.click();
    }
  }

  function escape() {
    const account = $(".account[open]");
    if (account) {
      account.open = false;
      $("summary", account).focus();
    } else {
      document.activeElement?.blur();
    }
  }

  const pressed = {
    j: () => step(1),
    k: () => step(-1),
    r: () => $("#redrive")?.focus(),
    "?": () => $("#keys").showModal(),
    Escape: escape,
  };

  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input:not([type=checkbox]),textarea,select,dialog,[contenteditable]");
    if (event.ctrlKey || event.metaKey || event.altKey || typing || !Object.hasOwn(pressed, event.key)) return;
    if (!keys && event.key !== "Escape") return;
    event.preventDefault();
    pressed[event.key]();
  });

  // -- htmx ------------------------------------------------------------------------------------------------------------------

  document.addEventListener("htmx:afterSettle", (event) => {
    const target = event.detail.target;
    if (target?.id === "action") head($("#action")); // the old one is gone: its place holds the answer
    if (target?.id === "results") {
      say($("#results").dataset.say);
      if (event.detail.requestConfig?.elt.closest(".pager")) ($(".rows .open") ?? $("#results"))?.focus();
    }
  });

  // No answer came, or none that can be shown: the slip that says so lies in the page, with the same operation id.
  function lost(event) {
    const slip = $("#lost")?.content.firstElementChild?.cloneNode(true);
    if (event.detail.target?.id !== "action" || !slip) return false;
    $("#action").replaceWith(slip);
    htmx.process(slip);
    head(slip);
    return true;
  }
  document.addEventListener("htmx:sendError", lost);
  document.addEventListener("htmx:timeout", lost);
  document.addEventListener("htmx:responseError", (event) => {
    const { verb, path } = event.detail.requestConfig;
    if (!lost(event) && verb === "get") location.assign(path); // whatever it was, as a whole page
  });

  if (matchMedia("(width < 56rem)").matches) $$("[data-shut-on-phone]").forEach((details) => { details.open = false; });
})();
