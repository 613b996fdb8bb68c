// The form of a value: while somebody types, the registry says what it makes of it, and only units that fit stay.
// Without this script the form works all the same: the answer comes when it is saved.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("specvalue_form");
  if (!form) return;
  const field = form.elements.field, unit = form.elements.unit, value = form.elements.value;
  if (!field || !unit || !value) return; // somebody who may only look
  const words = unit.options[0].textContent;
  const base = location.pathname.replace(/specvalue\/.*$/, "specvalue/");
  const own = (location.pathname.match(/specvalue\/(\d+)\//) || [])[1] || "";

  const says = document.createElement("div");
  says.className = "judged";
  says.setAttribute("role", "status");
  (value.closest(".form-row") || value.parentElement).append(says);

  function line(text, kind) {
    const p = document.createElement("p");
    p.className = kind;
    p.textContent = text;
    return p;
  }

  function offer(units) {
    const chosen = unit.value;
    const offered = [["", words], ...units.map((symbol) => [symbol, symbol])];
    unit.replaceChildren(...offered.map(([key, text]) => new Option(text, key)));
    unit.value = units.includes(chosen) ? chosen : units.length === 1 ? units[0] : "";
  }

  let turn = 0;
  async function judge(offersUnits) {
    const mine = ++turn;
    const query = new URLSearchParams();
    for (const [name, said] of new FormData(form)) {
      if (typeof said === "string" && !name.startsWith("csrf")) query.set(name, said);
    }
    query.set("id", own);
    try {
      const answer = await fetch(`${base}judge/?${query}`, { headers: { Accept: "application/json" } });
      if (!answer.ok) return;
      const told = await answer.json();
      if (mine !== turn) return; // typed on meanwhile
      if (offersUnits) offer(told.units);
      says.replaceChildren(
        ...told.problems.map((text) => line(text, "problem")),
        ...told.notes.map((text) => line(text, "help")),
      );
    } catch {
      says.replaceChildren(); // no network: saving says it
    }
  }

  let waiting = 0;
  function soon() {
    clearTimeout(waiting);
    waiting = setTimeout(() => judge(false), 250);
  }
  field.addEventListener("change", () => judge(true));
  form.addEventListener("input", (event) => event.target !== field && soon());
  form.addEventListener("change", (event) => event.target !== field && soon());
  judge(!own && field.value !== "");
});
