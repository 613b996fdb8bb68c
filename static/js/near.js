/* A part of a page that is fetched is fetched before it is seen, so that nothing moves under the reader's eyes:
   <div data-near data-swap hx-get="..." hx-trigger="near once"> holds a link to the same, for readers without scripts. */
(() => {
  "use strict";
  const AHEAD = "0px 0px 1500px 0px";
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      watch.unobserve(entry.target);
      entry.target.dispatchEvent(new CustomEvent("near"));
    }
  }, { rootMargin: AHEAD });
  /* htmx says so when it listens to what it has just read: of the whole page at first, then of each swapped part. */
  document.addEventListener("htmx:load", () => document.querySelectorAll("[data-near]").forEach((part) => watch.observe(part)));
})();
