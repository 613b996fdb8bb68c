/* "Copy" beside something to copy: <div class="copy"><pre>…</pre><button data-copy>. Says so to everybody. */
document.addEventListener("click", async (event) => {
  "use strict";
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const text = button.closest(".copy").querySelector("pre").textContent.trim();
  let done = false;
  try {
    await navigator.clipboard.writeText(text); // no clipboard over plain http
    done = true;
  } catch {}
  button.dataset.label ??= button.textContent;
  button.textContent = done ? button.dataset.copied : button.dataset.failed;
  const region = document.querySelector("[data-announce]");
  if (region) region.textContent = button.textContent;
  clearTimeout(button.restore);
  button.restore = setTimeout(() => (button.textContent = button.dataset.label), 2000);
});
