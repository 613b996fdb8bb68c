/* The compare tray: up to six subjects, kept in this browser only (localStorage), shown at the foot of pages that offer
   subjects.

   A page offers a subject with <button data-tray-add="<subject>" data-tray-name="H100 SXM"> (the tag tray_button);
   clicks are caught on the document, so parts that htmx swaps in work too. */
(() => {
  "use strict";
  const KEY = "accelweb.tray";
  const MOST = 6;
  const tray = document.querySelector("[data-tray]");
  if (!tray) return;
  const list = tray.querySelector("ol");
  const go = tray.querySelector("[data-tray-go]");
  const words = tray.dataset;
  let subjects = read();

  function read() {
    try {
      const stored = JSON.parse(localStorage.getItem(KEY) || "[]");
      return (Array.isArray(stored) ? stored : [])
        .filter((item) => item && typeof item.subject === "string" && typeof item.name === "string")
        .slice(0, MOST);
    } catch {
      return [];
    }
  }

  function keep(next) {
    subjects = next;
    try {
      localStorage.setItem(KEY, JSON.stringify(subjects));
    } catch {
      /* no storage: the tray lasts until the next page */
    }
    show();
  }

  const fill = (text, name) => text.replace("{name}", name).replace("{count}", String(subjects.length));

  function say(text) {
    const region = document.querySelector("[data-announce]");
    if (region) region.textContent = text;
  }

  function pill(item) {
    const row = document.createElement("li");
    const name = document.createElement("span");
    name.textContent = name.title = item.name;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "✕";
    button.setAttribute("aria-label", fill(words.textRemove, item.name));
    button.dataset.trayRemove = item.subject;
    row.append(name, button);
    return row;
  }

  function show() {
    list.replaceChildren(...subjects.map(pill));
    tray.hidden = subjects.length === 0 || !document.querySelector("[data-tray-add]");
    document.documentElement.toggleAttribute("data-tray", !tray.hidden);
    go.href = go.dataset.trayGo + "?" + subjects.map((item) => "a=" + encodeURIComponent(item.subject).replaceAll("%3A", ":").replaceAll("%2F", "/")).join("&");
    go.textContent = fill(words.textCompare, "");
    mark(document);
  }

  function mark(within) {
    for (const button of within.querySelectorAll("[data-tray-add]")) {
      const held = subjects.some((item) => item.subject === button.dataset.trayAdd);
      button.setAttribute("aria-pressed", String(held));
    }
  }

  function toggle(button) {
    const { trayAdd: subject, trayName: name } = button.dataset;
    if (subjects.some((item) => item.subject === subject)) return remove(subject);
    if (subjects.length >= MOST) return say(fill(words.textFull, name));
    keep([...subjects, { subject, name }]);
    say(fill(words.textAdded, name));
  }

  function remove(subject) {
    const at = subjects.findIndex((item) => item.subject === subject);
    if (at < 0) return;
    const [gone] = subjects.slice(at, at + 1);
    const inTray = list.contains(document.activeElement);
    keep(subjects.filter((item) => item.subject !== subject));
    say(fill(words.textRemoved, gone.name));
    if (!inTray) return;
    const buttons = list.querySelectorAll("button");
    (buttons[Math.min(at, buttons.length - 1)] || document.querySelector("main")).focus();
  }

  document.addEventListener("click", (event) => {
    const add = event.target.closest("[data-tray-add]");
    if (add) return toggle(add);
    const drop = event.target.closest("[data-tray-remove]");
    if (drop) return remove(drop.dataset.trayRemove);
    if (event.target.closest("[data-tray-clear]")) {
      keep([]);
      say(words.textCleared);
      document.querySelector("main").focus();
    }
  });
  document.addEventListener("htmx:afterSwap", show);
  addEventListener("storage", (event) => {
    if (event.key === KEY) {
      subjects = read();
      show();
    }
  });
  addEventListener("pageshow", (event) => {
    if (event.persisted) {
      subjects = read();
      show();
    }
  });

  show();
})();
