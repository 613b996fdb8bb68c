/* A part of a page that is fetched is fetched before it is seen, so that nothing moves under the reader's eyes:
   <div data-near data-swap hx-get="..." hx-trigger="near once"> holds a link to the same, for readers without scripts.
   Whoever only looks at the first screen fetches what is near; whoever begins to scroll fetches the rest at once. */
(() => {
  "use strict";
  const START = 1500, SCROLLED = 50000; // px below the window
  const watcher = (ahead) => new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      watch.unobserve(entry.target);
      entry.target.dispatchEvent(new CustomEvent("near"));
    }
  }, { rootMargin: `0px 0px ${ahead}px 0px` });
  let watch = watcher(START);
  const observe = () => document.querySelectorAll("[data-near]").forEach((part) => watch.observe(part));
  addEventListener("scroll", () => {
    watch.disconnect();
    watch = watcher(SCROLLED);
    observe();
  }, { once: true, passive: true });
  /* htmx says so when it listens to what it has just read: of the whole page at first, then of each swapped part. */
  document.addEventListener("htmx:load", observe);
})();
