"use strict";
// Forms other than an item's: what is written is kept on the server as it is written, and before it is sent. A form is
// sent only when that has worked, so that a session that is over or a server that is away costs nobody a text.
(() => {
  const WAIT_MS = 600;
  const RETRY_MS = 4000;
  let line = null; // says how things stand, and holds the words for it
  let form = null;
  let timer = 0;
  let edits = 0;
  let saved = 0;
  let sending = false;

  function start() {
    const found = document.querySelector("[data-kept]");
    if (!found || found === line) return;
    line = found;
    form = found.closest("form");
    edits = saved = 0;
    sending = false;
    ["input", "change"].forEach((name) => form.addEventListener(name, changed));
    form.addEventListener("submit", send);
    choices();
  }

  function changed() {
    edits += 1;
    tell(line.dataset.saving);
    later(WAIT_MS);
  }

  function later(wait) {
    clearTimeout(timer);
    timer = setTimeout(save, wait);
  }

  function tell(text, bad, link) {
    line.classList.toggle("problem", Boolean(bad));
    line.textContent = text;
    if (!link) return;
    const anchor = Object.assign(document.createElement("a"), { href: "/login?next=/", target: "_blank", rel: "noopener", textContent: link });
    line.append(" ", anchor);
  }

  // Whether the server has what is in the form now.
  async function save() {
    clearTimeout(timer);
    const now = edits;
    const body = new URLSearchParams(new FormData(form));
    body.set("kept", line.dataset.kept);
    let answer;
    try {
      answer = await fetch("/keep", { method: "POST", body, headers: { "HX-Request": "true" } });
    } catch {
      tell(line.dataset.offline, true);
      later(RETRY_MS);
      return false;
    }
    if (answer.ok) {
      saved = now;
      if (now !== edits) later(WAIT_MS);
      else if (!sending) tell(line.dataset.saved);
      return true;
    }
    if (answer.status === 401) tell(line.dataset.signedOut, true, line.dataset.signIn);
    else if (answer.status >= 500) { tell(line.dataset.busy, true); later(RETRY_MS); }
    else {
      const text = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector(".problem");
      tell(text ? text.textContent : String(answer.status), true);
    }
    return false;
  }

  async function send(event) {
    if (sending === "now") return; // kept: now the browser sends it
    event.preventDefault();
    if (sending) return; // pressed twice
    const button = event.submitter;
    sending = true;
    const fine = await save();
    sending = fine ? "now" : false;
    if (!fine) return;
    saved = edits;
    tell(line.dataset.sending);
    form.requestSubmit(button && button.form === form ? button : null);
    form.querySelectorAll("button").forEach((one) => setTimeout(() => { one.disabled = true; }));
  }

  // A decision by keyboard: letters of the candidates, "-" for none, "+" for another answer, whose options have keys of
  // their own while they are shown. Enter decides.
  document.addEventListener("keydown", (event) => {
    const choice = line && document.body.contains(line) ? form.querySelectorAll("input[name=choice]") : [];
    if (!choice.length || event.isComposing || event.keyCode === 229 || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("textarea, select, input[type=text]")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const key = event.key.toLowerCase();
    if (key === "enter") {
      if (event.target.matches("button, a, summary")) return;
      event.preventDefault();
      if (!event.repeat) form.requestSubmit();
      return;
    }
    const named = { "-": "no_gold", "+": "other", "=": "other" }[key] || key.toUpperCase();
    const options = document.getElementById("other").open ? [...document.querySelectorAll("#other [data-key]")] : [];
    const wanted = options.find((one) => one.dataset.key === key) || [...choice].find((one) => one.value === (named.length === 1 || named === "no_gold" || named === "other" ? named : ""));
    if (!wanted) return;
    event.preventDefault();
    wanted.click();
    wanted.focus();
  });

  // "Another answer" of a decision shows its options, and choosing one of them chooses it.
  function choices() {
    const other = form.querySelector("input[name=choice][value=other]");
    const box = document.getElementById("other");
    if (!other || !box) return;
    form.addEventListener("change", (event) => {
      if (box.contains(event.target)) other.checked = true;
      if (event.target.name === "choice") box.open = other.checked;
    });
  }

  const unsaved = () => line && document.body.contains(line) && edits !== saved;
  window.addEventListener("focus", () => { if (unsaved() && !sending) save(); });
  window.addEventListener("beforeunload", (event) => { if (unsaved() && sending !== "now") event.preventDefault(); });
  // A page that the browser brings back from its memory can be sent again.
  window.addEventListener("pageshow", (event) => { if (event.persisted && form) { sending = false; form.querySelectorAll("button").forEach((one) => { one.disabled = false; }); } });

  document.addEventListener("htmx:load", start);
  document.addEventListener("DOMContentLoaded", start);
  if (document.readyState !== "loading") start();
})();
