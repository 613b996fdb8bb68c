/* Search boxes: htmx fills the list below one, which is chosen from with the arrow keys, Enter and Escape (the combobox
   pattern); "/" focuses that of the header. data-find names the list. Without scripts the form sends the text, and the
   roles are absent. */
(() => {
  "use strict";
  const isTyping = (element) => element.isContentEditable || element.matches("input, textarea, select");

  function equip(input) {
    const list = document.getElementById(input.dataset.find);
    if (!list || input.getAttribute("role") === "combobox") return;
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

    /* Of two boxes: while the other one is empty a suggestion fills this one and leads there. */
    const fill = (option) => {
      const other = document.getElementById(input.dataset.next);
      if (!other || other.value.trim()) return false;
      input.value = option.dataset.name;
      show(false);
      other.focus();
      return true;
    };

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
      } else if (event.key === "Enter" && isOpen && (active() || input.dataset.next)) {
        event.preventDefault();
        (active() || all[0]).click();
      }
    });
    input.addEventListener("input", () => input.value.trim() || show(false));
    input.addEventListener("change", (event) => event.stopPropagation()); // chosen is an option, not what was typed
    input.addEventListener("focus", () => show(input.value.trim() !== "" && options().length > 0));
    input.addEventListener("blur", () => setTimeout(() => list.contains(document.activeElement) || show(false), 150));
    list.addEventListener(
      "click",
      (event) => {
        const option = event.target.closest("[role=option]");
        if (!option || !fill(option)) return;
        event.preventDefault();
        event.stopPropagation();
      },
      true, // before the link is followed
    );
    list.addEventListener("pointerdown", (event) => event.preventDefault()); // a click keeps the focus in the box
  }

  const equipAll = () => document.querySelectorAll("[data-find]").forEach(equip);
  equipAll();
  document.addEventListener("htmx:load", equipAll);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const first = document.querySelector("[data-find]");
    if (!first) return;
    event.preventDefault();
    first.focus();
    first.select();
  });
})();
