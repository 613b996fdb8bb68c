/* Files dropped anywhere on the form become the chosen ones; the form itself sends them. Text is dropped as text. */
(() => {
  "use strict";
  const form = document.querySelector("form[data-drop]");
  const input = form && form.querySelector("input[type=file]");
  if (!input) return;
  const holdsFiles = (event) => [...(event.dataTransfer?.types || [])].includes("Files");
  const mark = (on) => form.toggleAttribute("data-over", on);
  form.addEventListener("dragover", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    mark(true);
  });
  form.addEventListener("dragleave", (event) => form.contains(event.relatedTarget) || mark(false));
  form.addEventListener("drop", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    mark(false);
    input.files = event.dataTransfer.files;
    input.focus();
    const region = document.querySelector("[data-announce]");
    const names = [...input.files].map((file) => file.name).join(", ");
    if (region) region.textContent = form.dataset.dropped.replace("{names}", names);
  });
})();
