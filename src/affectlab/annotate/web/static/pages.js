"use strict";
// Keys, pages, drafts, undo, spans and times of the item page; keys and undo of practice and questionnaires as well.
// Without this script the forms still work by mouse and Tab.
(() => {
  const IDLE_MS = 30000;
  const RETRY_MS = 4000;
  let page = null; // what start() found; null on pages without questions

  const all = (root, query) => [...root.querySelectorAll(query)];
  const shown = (element) => element.offsetParent !== null;
  const wide = () => matchMedia("(min-width: 60rem)").matches;

  function start() {
    const form = document.getElementById("work") || document.querySelector("form[data-keys]");
    if (!form || (page && page.form === form)) return;
    const fresh = { form, history: [], before: null, active: 0, opened: performance.now(), seen: performance.now(), log: [], unsaved: "unsaved" in form.dataset, edits: 0, sent: 0, going: null, leaving: false, here: null, wordy: null };
    page = fresh;
    form.addEventListener("input", onInput);
    form.addEventListener("change", onChange);
    ["beforeinput", "input", "compositionend"].forEach((name) => form.addEventListener(name, guard));
    form.addEventListener("focusin", (event) => { const slot = event.target.closest("fieldset.slot"); if (slot) goTo(slot, false); });
    form.addEventListener("click", onClick);
    for (const [id, act] of [["undo", undo], ["skip", openSkip], ["help", openHelp]]) document.getElementById(id)?.addEventListener("click", act);
    all(document, "[data-close]").forEach((button) => button.addEventListener("click", () => button.closest("dialog").close()));
    // On a phone the open guidelines would stand between the item and its questions.
    const guidelines = document.getElementById("guidelines");
    if (guidelines && !wide()) guidelines.open = false;
    refresh();
    const wrong = form.querySelector("fieldset.wrong");
    showPage(wrong ? wrong.closest(".page") : all(form, ".page").find((one) => slotsOf(one).some((slot) => !answered(slot))) || form.querySelector(".page"));
    page.before = snapshot();
    // On a phone the item stands above its questions: it is read first, so the page stays at its top.
    goTo(wrong || slots().find((slot) => !answered(slot)) || slots()[0], true, !wrong && !wide());
    if (wrong) setTimeout(() => wrong.scrollIntoView({ block: "nearest" })); // htmx goes to the top once this is done
  }

  // Where one is ----------------------------------------------------------------------------------------------------

  const slotsOf = (root) => all(root, "fieldset.slot").filter((slot) => !slot.hidden && slot.dataset.kind !== "derived");
  const currentPage = () => all(page.form, ".page").find((one) => !one.hidden);
  const slots = () => slotsOf(currentPage());

  function goTo(slot, focus, still) {
    if (!slot) return;
    all(page.form, "fieldset.here").forEach((one) => one.classList.remove("here"));
    slot.classList.add("here");
    page.here = slot;
    if (focus) {
      const field = slot.querySelector("textarea:not([data-spans]), input[type=text]");
      (field || slot).focus({ preventScroll: still });
      if (!still) slot.scrollIntoView({ block: "nearest" });
    }
  }

  function showPage(wanted) {
    all(page.form, ".page").forEach((one) => { one.hidden = one !== wanted; });
    const last = all(page.form, ".page").at(-1) === wanted;
    document.getElementById("submit").hidden = !last;
  }

  function turn(by) {
    const pages = all(page.form, ".page");
    const next = pages[pages.indexOf(currentPage()) + by];
    if (!next) return false;
    showPage(next);
    goTo(slots().find((slot) => !answered(slot)) || slots()[0], true);
    document.getElementById("main").scrollIntoView();
    return true;
  }

  function step(by) {
    const list = slots();
    goTo(list[Math.min(list.length - 1, Math.max(0, list.indexOf(page.here) + by))], true);
  }

  function answered(slot) {
    if (slot.querySelector("input:checked")) return true;
    return all(slot, "textarea:not([data-spans]), input[type=text], input[type=hidden]").some((field) => field.value.trim() !== "");
  }

  function onward() {
    const list = slots();
    const next = list.slice(list.indexOf(page.here) + 1).find((slot) => !answered(slot));
    if (next) { goTo(next, true); return; }
    if (!turn(1)) page.form.requestSubmit(document.getElementById("submit"));
  }

  // What follows from answers -----------------------------------------------------------------------------------------

  // Practice shows several items on one page: each has a prefix of its own before its questions' names.
  function values(slot, name) {
    const found = new FormData(page.form).getAll(slot.dataset.prefix + "s." + name);
    return found.filter((value) => value !== "");
  }

  function refresh() {
    all(page.form, "[data-when]").forEach((slot) => {
      const when = JSON.parse(slot.dataset.when);
      slot.hidden = !values(slot, when.slot).some((value) => when.equals.includes(value));
    });
    all(page.form, "[data-derive]").forEach((slot) => {
      const derive = JSON.parse(slot.dataset.derive);
      const parts = derive.of.map((name) => values(slot, name)[0]);
      slot.querySelector("output").textContent = parts.every(Boolean) ? derive.table[parts.join("|")] || "–" : "–";
    });
  }

  function settle(target) {
    const slot = target.closest("fieldset.slot");
    if (!slot || slot.dataset.kind !== "label_set") return;
    if (target.hasAttribute("data-none") && target.checked) {
      all(slot, "input:checked").filter((one) => one !== target).forEach((one) => { one.checked = false; });
    }
    if (target.type === "radio" && target.checked) target.closest(".option-row").querySelector("input[type=checkbox]").checked = true;
    if (target.type === "checkbox" && target.closest(".option-row")) {
      const levels = all(target.closest(".option-row"), "input[type=radio]");
      if (!target.checked) levels.forEach((one) => { one.checked = false; });
      else if (levels.length && !levels.some((one) => one.checked)) levels[0].checked = true;
    }
    if (!target.hasAttribute("data-none") && target.checked) {
      const none = slot.querySelector("[data-none]");
      if (none) none.checked = false;
    }
  }

  function onChange(event) {
    if (event.target.name === "reason") return;
    settle(event.target);
    remember(event.target.matches("textarea, input[type=text]") ? event.target.name : null);
    refresh();
    touched();
  }

  function onInput(event) {
    if (event.target.matches("textarea, input[type=text]")) {
      record(event);
      remember(event.target.name);
      touched();
    }
  }

  function touched() {
    if (page.form.id !== "work") return;
    page.unsaved = true;
    page.edits += 1;
    tell(page.form.dataset.saving, false);
  }

  // Undo --------------------------------------------------------------------------------------------------------------

  const KEPT = /^((t\..+\.)?[si]\.|comment$|flag$)/;

  function snapshot() {
    return JSON.stringify([...new FormData(page.form)].filter(([name]) => KEPT.test(name)));
  }

  function remember(wordy) {
    const now = snapshot();
    if (now === page.before) return;
    const same = wordy && page.wordy && page.wordy.name === wordy && performance.now() - page.wordy.at < 1500;
    if (!same) page.history.push(page.before);
    page.wordy = wordy ? { name: wordy, at: performance.now() } : null;
    page.before = now;
  }

  function undo() {
    const earlier = page.history.pop();
    if (earlier === undefined) return;
    const fields = JSON.parse(earlier);
    const has = (name, value) => fields.some(([n, v]) => n === name && v === value);
    all(page.form, "input[type=radio], input[type=checkbox]").filter((one) => KEPT.test(one.name)).forEach((one) => { one.checked = has(one.name, one.value); });
    all(page.form, "textarea, input[type=text]").filter((one) => KEPT.test(one.name)).forEach((one) => {
      const found = fields.find(([name]) => name === one.name);
      one.value = found ? found[1].replace(/\r\n/g, "\n") : "";
    });
    all(page.form, "[data-marked]").forEach((list) => {
      list.replaceChildren();
      fields.filter(([name]) => name === list.dataset.marked).forEach(([, value]) => addMark(list, value));
    });
    page.before = snapshot();
    page.wordy = null;
    refresh();
    touched();
    save();
  }

  // Forms other than an item's are kept by forms.js, at every change.
  const save = () => { if (page.form.id === "work") htmx.trigger(page.form, "save"); else page.form.dispatchEvent(new Event("change")); };

  // Spans: offsets are kept in code points, the browser counts UTF-16 units ---------------------------------------------

  const points = (text) => [...text].length;

  // A read-only field would have no caret in Chromium, so nothing could be selected by keyboard; this one takes no change.
  function guard(event) {
    const area = event.target;
    if (!area.matches("[data-spans]")) return;
    event.preventDefault();
    if (area.value !== area.defaultValue) area.value = area.defaultValue; // input methods cannot be refused
  }

  function markIn(slot) {
    const area = slot.querySelector("[data-spans]");
    const { selectionStart: from, selectionEnd: to, value } = area;
    area.focus();
    if (from === to) return false;
    const start = points(value.slice(0, from));
    addMark(slot.querySelector("[data-marked]"), `${start}-${start + points(value.slice(from, to))}`);
    area.setSelectionRange(to, to);
    marksChanged();
    return true;
  }

  function marksChanged() {
    remember(null);
    touched();
    save();
  }

  function onClick(event) {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.hasAttribute("formaction") && !page.form.querySelector("input[name=reason]:checked")) {
      event.preventDefault();
      document.getElementById("skip-reason").hidden = false;
    }
    if (button.dataset.turn) turn(Number(button.dataset.turn));
    if (button.dataset.mark) markIn(button.closest("fieldset.slot"));
    if (button.hasAttribute("data-unmark")) {
      const slot = button.closest("fieldset.slot");
      button.closest("li").remove();
      (slot.querySelector("[data-unmark]") || slot.querySelector("[data-spans]")).focus();
      marksChanged();
    }
  }

  function addMark(list, value) {
    const [start, end] = value.split("-").map(Number);
    const area = list.closest("fieldset.slot").querySelector("[data-spans]");
    if (all(list, "input").some((one) => one.value === value)) return;
    const entry = document.createElement("li");
    const field = Object.assign(document.createElement("input"), { type: "hidden", name: list.dataset.marked, value });
    const quote = document.createElement("q");
    quote.textContent = [...area.value].slice(start, end).join("");
    const button = Object.assign(document.createElement("button"), { type: "button", className: "small", textContent: list.dataset.remove });
    button.setAttribute("data-unmark", "");
    entry.append(field, quote, " ", button);
    list.append(entry);
  }

  // Keys --------------------------------------------------------------------------------------------------------------

  const writes = (element) => element.matches("textarea, select, input:not([type=radio]):not([type=checkbox])") && !element.matches("[data-spans]");

  document.addEventListener("keydown", (event) => {
    if (!page || !document.body.contains(page.form)) return;
    seen();
    // keyCode 229 is what browsers give while an input method composes.
    if (event.isComposing || event.keyCode === 229 || event.ctrlKey || event.metaKey || event.altKey) return;
    if (page.leaving) { event.preventDefault(); return; } // meant for the item that is on its way
    const target = event.target;
    const dialog = document.querySelector("dialog[open]");
    if (dialog) {
      // The reasons belong to the item's form, whose first button submits: Enter must mean the dialog's own button.
      if (dialog.id === "skip-dialog" && event.key === "Enter" && !target.matches("button")) { event.preventDefault(); if (!event.repeat) leaveOut().click(); }
      return;
    }
    if (writes(target)) {
      if (event.key === "Escape") page.here ? page.here.focus() : target.blur();
      if (event.key === "Enter" && target.tagName === "INPUT") { event.preventDefault(); onward(); }
      return;
    }
    if (event.key === "Enter") {
      if (target.matches("button, a, summary")) return;
      event.preventDefault();
      if (!event.repeat && !(target.matches("[data-spans]") && markIn(target.closest("fieldset.slot")))) onward();
      return;
    }
    const command = COMMANDS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (command && (page.form.id === "work" || FORM_COMMANDS.has(event.key.toLowerCase()))) { event.preventDefault(); command(); return; }
    if (event.key.length === 1 && page.here && choose(page.here, event.key.toLowerCase())) event.preventDefault();
  });

  function choose(slot, key) {
    const input = all(slot, "input[data-key]").find((one) => one.dataset.key === key);
    if (!input || !shown(input)) return false;
    if (input.type === "radio") {
      input.checked = true;
    } else {
      const levels = input.closest(".option-row") ? all(input.closest(".option-row"), "input[type=radio]") : [];
      const level = levels.findIndex((one) => one.checked);
      if (input.checked && level < levels.length - 1) levels[level + 1].checked = true;
      else input.checked = !input.checked;
    }
    input.dispatchEvent(new Event("change", { bubbles: true }));
    if (input.type === "radio") {
      const list = slots();
      const next = list[list.indexOf(slot) + 1];
      if (next) goTo(next, true);
    }
    return true;
  }

  function openHelp() { document.getElementById("keys").showModal(); }
  const leaveOut = () => document.querySelector("#skip-dialog button[formaction]");
  function openSkip() { document.getElementById("skip-reason").hidden = true; document.getElementById("skip-dialog").showModal(); }

  const COMMANDS = {
    "?": openHelp,
    u: undo,
    b: () => { const link = document.getElementById("back"); if (link) link.click(); },
    s: openSkip,
    f: () => { document.getElementById("more").open = true; document.getElementById("flag").click(); },
    c: () => { document.getElementById("more").open = true; document.getElementById("comment").focus(); },
    g: () => { const box = document.getElementById("guidelines"); if (box) box.open = !box.open; },
    n: () => step(1),
    p: () => step(-1),
  };

  const FORM_COMMANDS = new Set("?ugnp");

  // Times and rhythm --------------------------------------------------------------------------------------------------

  function seen() {
    if (!page) return;
    const now = performance.now();
    if (!document.hidden) page.active += Math.min(now - page.seen, IDLE_MS);
    page.seen = now;
  }

  ["pointerdown", "pointermove", "wheel", "scroll"].forEach((name) => document.addEventListener(name, seen, { passive: true, capture: true }));
  document.addEventListener("visibilitychange", () => { if (page) { if (document.hidden) { page.active += Math.min(performance.now() - page.seen, IDLE_MS); } page.seen = performance.now(); } });

  function record(event) {
    const field = event.target;
    const length = points(field.value);
    const change = length - (Number(field.dataset.length) || 0);
    field.dataset.length = length;
    if (!("typing" in page.form.dataset) || page.log.length >= 2000) return;
    const kind = event.inputType || "";
    const named = kind === "insertFromPaste" ? "paste" : kind.startsWith("delete") ? "delete" : kind.startsWith("insert") ? "insert" : "other";
    page.log.push([named, Math.round(performance.now() - page.opened), change]);
  }

  // Saving --------------------------------------------------------------------------------------------------------------

  function tell(text, bad, link) {
    const state = document.getElementById("state");
    if (!state) return;
    const rev = state.querySelector("input[name=rev]");
    const line = document.createElement("span");
    line.className = bad ? "problem" : "";
    line.textContent = text;
    state.replaceChildren(rev, line);
    if (link) {
      const anchor = Object.assign(document.createElement("a"), { href: "/login?next=/mine", target: "_blank", rel: "noopener", textContent: link });
      state.append(" ", anchor);
    }
  }

  document.addEventListener("htmx:configRequest", (event) => {
    if (!page || !page.form.contains(event.detail.elt) && event.detail.elt.id !== "saver") return;
    seen();
    if (event.detail.elt.id === "saver") page.sent = page.edits;
    if (event.detail.verb !== "post") return; // times and rhythm do not belong in addresses
    event.detail.parameters.active_ms = String(Math.round(page.active));
    event.detail.parameters.elapsed_ms = String(Math.round(performance.now() - page.opened));
    event.detail.parameters.typing_log = JSON.stringify(page.log);
  });

  // Back and Forward: what is on the page is saved first, however short ago it was changed. If it cannot be, one stays.
  document.addEventListener("htmx:confirm", (event) => {
    if (!page || !page.unsaved || !event.detail.elt.matches("a") || !page.form.contains(event.detail.elt)) return;
    event.preventDefault();
    page.going = event.detail.issueRequest;
    htmx.trigger(page.form, "save");
  });

  // Nothing was stored because the design has changed: the answer is the whole item as it is asked now. Other refusals
  // are a line, and the page stays.
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { xhr, elt } = event.detail;
    if (xhr.status !== 409 || elt.id === "saver" || !new DOMParser().parseFromString(xhr.responseText, "text/html").getElementById("work")) return;
    event.detail.shouldSwap = true;
    event.detail.isError = false;
  });

  document.addEventListener("htmx:beforeRequest", (event) => { if (page && event.detail.elt.id !== "saver" && page.form.contains(event.detail.elt)) page.leaving = true; });

  document.addEventListener("htmx:afterRequest", (event) => {
    if (!page) return;
    const { xhr, successful, elt } = event.detail;
    if (elt.id !== "saver") page.leaving = false;
    else {
      if (successful) page.unsaved = page.edits !== page.sent;
      const going = page.going;
      if (!successful || !page.unsaved) page.going = null;
      if (going && !page.unsaved) going(true);
    }
    if (successful || !xhr || xhr.status === 0) return;
    const data = page.form.dataset;
    page.unsaved = true;
    if (xhr.status === 401) tell(data.signedOut, true, data.signIn);
    else if (xhr.status >= 500) { tell(data.busy, true); later(); }
    else if (xhr.status !== 422) {
      const text = new DOMParser().parseFromString(xhr.responseText, "text/html").querySelector(".problem");
      tell(text ? text.textContent : String(xhr.status), true);
    }
  });

  document.addEventListener("htmx:sendError", () => { if (page) { page.unsaved = true; tell(page.form.dataset.offline, true); later(); } });

  let waiting = 0;
  function later() {
    clearTimeout(waiting);
    waiting = setTimeout(() => { if (page && page.unsaved) htmx.trigger(page.form, "save"); }, RETRY_MS);
  }

  // After signing in again in another tab, what is in the form is saved without more ado.
  window.addEventListener("focus", () => { if (page && page.unsaved) htmx.trigger(page.form, "save"); });
  window.addEventListener("beforeunload", (event) => { if (page && page.unsaved && document.body.contains(page.form)) event.preventDefault(); });

  document.addEventListener("htmx:load", start);
  document.addEventListener("DOMContentLoaded", start);
  if (document.readyState !== "loading") start();
})();
