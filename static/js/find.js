/* The search box of every page: "/" focuses it; htmx fills the list below it, which is chosen from with the arrow keys,
   Enter and Escape (the combobox pattern). Without scripts the form sends the text, and the roles are absent. */
(() => {
  "use strict";
  const input = document.querySelector("[data-find]");
  const list = document.getElementById("search-options");
  if (!input || !list) return;
  const options = () => [...list.querySelectorAll("[role=option]")];
  const active = () => list.querySelector("[aria-selected=true]");
  const mark = (option) => {
    for (const other of options()) other.setAttribute("aria-selected", String(other === option));
    if (option) {
      input.setAttribute("aria-activedescendant", option.id);
      option.scrollIntoView({ block: "nearest" });
    } else input.removeAttribute("aria-activedescendant");
  };
  const show = (isOpen) => {
    list.hidden = !isOpen;
    input.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) mark(null);
  };
  const isTyping = (element) => element.isContentEditable || element.matches("input, textarea, select");

  input.setAttribute("role", "combobox");
  input.setAttribute("aria-autocomplete", "list");
  input.setAttribute("aria-controls", list.id);
  input.setAttribute("aria-expanded", "false");

  list.addEventListener("htmx:afterSwap", () => {
    mark(null);
    show(document.activeElement === input && input.value.trim() !== "" && options().length > 0);
  });
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return; // Enter and arrows choose characters there
    const all = options();
    const isOpen = !list.hidden;
    if (event.key === "Escape" && isOpen) {
      event.preventDefault();
      show(false);
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && all.length) {
      event.preventDefault();
      if (!isOpen) show(true);
      const step = event.key === "ArrowDown" ? 1 : -1;
      const at = all.indexOf(active());
      const next = at < 0 && step < 0 ? all.length - 1 : at + step;
      mark(all[next] || null); // past an end the box itself is active again
    } else if (event.key === "Enter" && isOpen && active()) {
      event.preventDefault();
      active().click();
    }
  });
  input.addEventListener("input", () => input.value.trim() || show(false));
  input.addEventListener("focus", () => show(input.value.trim() !== "" && options().length > 0));
  input.addEventListener("blur", () => setTimeout(() => list.contains(document.activeElement) || show(false), 150));
  list.addEventListener("pointerdown", (event) => event.preventDefault()); // a click keeps the focus in the box
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
})();
