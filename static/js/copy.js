/* "Copy": <div class="copy"><pre>TEXT</pre><button data-copy>, or <button data-copy="ID"> for the text of another element.
   Within data-here the text of #share-link stands for the address of the moment: filters change it without a new page. */
document.addEventListener("click", async (event) => {
  "use strict";
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const textOf = (element) => element.textContent.trim();
  const from = button.dataset.copy;
  let text = textOf(from ? document.getElementById(from) : button.closest(".copy").querySelector("pre"));
  if (button.closest("[data-here]")) {
    const now = window.location.href.replace(/[()]/g, (sign) => (sign === "(" ? "%28" : "%29")); // they end links in Markdown
    text = text.replaceAll(textOf(document.getElementById("share-link")), () => now);
  }
  let done = false;
  try {
    await navigator.clipboard.writeText(text); // no clipboard over plain http
    done = true;
  } catch {}
  const region = document.querySelector("[data-announce]");
  const outcome = done ? region.dataset.copied : region.dataset.failed;
  button.replaced ??= [...button.childNodes];
  button.textContent = region.textContent = outcome;
  clearTimeout(button.restore);
  button.restore = setTimeout(() => button.replaceChildren(...button.replaced), 2000);
});
