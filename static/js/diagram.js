// Stack diagrams: whoever points at a box, or opens it with the keyboard, sees the links that end there and what they tie.
// Without this script the links are drawn all the same.

const light = (diagram, key) => {
  const keys = new Set(key ? [key] : []);
  for (const link of diagram.querySelectorAll(".link")) {
    const ends = link.dataset.ends.split(" ");
    const isLit = Boolean(key) && ends.includes(key);
    link.classList.toggle("lit", isLit);
    if (isLit) ends.forEach((end) => keys.add(end));
  }
  for (const box of diagram.querySelectorAll("[data-key]")) box.classList.toggle("lit", keys.size > 1 && keys.has(box.dataset.key));
  diagram.classList.toggle("is-lit", keys.size > 1);
};

const follow = (event) => {
  const diagram = event.target.closest?.("[data-diagram]");
  if (diagram) light(diagram, event.target.closest("[data-key]")?.dataset.key);
};

for (const kind of ["pointerover", "focusin"]) document.addEventListener(kind, follow);
for (const kind of ["pointerout", "focusout"])
  document.addEventListener(kind, (event) => {
    const diagram = event.target.closest?.("[data-diagram]");
    if (diagram && !diagram.contains(event.relatedTarget)) light(diagram, "");
  });
