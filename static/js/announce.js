/* What htmx swaps in may say what changed, to people who cannot see it: <div data-say="3 machines"> in the new part. */
document.addEventListener("htmx:afterSettle", (event) => {
  "use strict";
  const part = event.detail.elt;
  const speaker = part.matches("[data-say]") ? part : part.querySelector("[data-say]");
  const region = document.querySelector("[data-announce]");
  if (speaker && region && region.textContent !== speaker.dataset.say) region.textContent = speaker.dataset.say;
});
