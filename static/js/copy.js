/* "Copy": <button data-copy="TEXT">, or beside something to copy: <div class="copy"><pre>…</pre><button data-copy>.
   data-here="ADDRESS" in a text stands for the address of the moment: filters change it without a new page. */
document.addEventListener("click", async (event) => {
  "use strict";
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const here = button.dataset.here;
  const given = button.dataset.copy || button.closest(".copy").querySelector("pre").textContent.trim();
  const now = window.location.href.replace(/[()]/g, (sign) => (sign === "(" ? "%28" : "%29")); // they end links in Markdown
  const text = here ? given.replaceAll(here, () => now) : given;
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
