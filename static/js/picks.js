/* Filters that open in place: <details class="pick"> closes when the reader turns to something else, and on Escape.
   A click on a label focuses what can be focused around it, such as <main>: that is not turning away. Nor is Enter, with
   which browsers click the form's button: a click without a pointer (detail 0) closes nothing, so that focus stays. */
(() => {
  "use strict";
  const open = () => document.querySelector("details.pick[open]");
  document.addEventListener("click", (event) => {
    const pick = open();
    if (pick && event.detail && !pick.contains(event.target)) pick.open = false;
  });
  document.addEventListener("focusin", (event) => {
    const pick = open();
    if (pick && !pick.contains(event.target) && !event.target.contains(pick)) pick.open = false;
  });
  document.addEventListener("keydown", (event) => {
    const pick = event.key === "Escape" && open();
    if (!pick) return;
    pick.open = false;
    pick.querySelector("summary").focus();
  });
})();
