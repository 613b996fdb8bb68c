/* A click on a point of the large drawing opens its sheet, as a click on the small one does. charts.js draws it. */
(() => {
  "use strict";

  function follow(event) {
    const point = event.points && event.points[0];
    const address = point && point.customdata && point.customdata[2];
    if (typeof address === "string" && /^\/([a-z-]+\/)?(accelerators|benchmarks)\//.test(address)) window.location.assign(address);
  }

  /* Plotly turns the empty element into its own when it has drawn: then it takes listeners. */
  function watch(plot) {
    if (plot.dataset.followed) return;
    plot.dataset.followed = "yes";
    const seen = new MutationObserver(() => {
      if (typeof plot.on !== "function") return;
      seen.disconnect();
      plot.on("plotly_click", follow);
    });
    seen.observe(plot, { attributes: true, childList: true });
  }

  const find = () => document.querySelectorAll(".scatter [data-chart-plot]").forEach(watch);
  find();
  document.addEventListener("htmx:load", find);
})();
