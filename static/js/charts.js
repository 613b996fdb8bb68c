/* Plotly takes over a chart when the reader asks for it: nothing of it is loaded before.

   <figure class="chart" data-chart="ID" data-chart-url="ADDRESS"> holds the drawing or the table with the same figures,
   <button data-chart-open> and <div class="chart-plot" data-chart-plot style="--h:320"></div>. The address answers with
   the figure, or with the figures of all charts of the page by their IDs.
   The address of plotly.js is this script's own data-plotly. Colours named in a trace's meta follow the theme. */
(() => {
  "use strict";
  const PLOTLY = document.currentScript.dataset.plotly;
  /* A chart may show a private lab's figures: nothing in it may offer to upload them, and no map data is fetched. */
  const CONFIG = {
    displaylogo: false,
    responsive: true,
    showSendToCloud: false,
    plotlyServerURL: "",
    topojsonURL: "",
    modeBarButtonsToRemove: ["lasso2d", "select2d", "sendChartToCloud"],
  };
  const drawn = new Set();
  let loading;

  function plotly() {
    loading ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = PLOTLY;
      script.onload = () => resolve(window.Plotly);
      script.onerror = () => reject(new Error("plotly.js did not load"));
      document.head.append(script);
    });
    return loading;
  }

  /* A token ("ink-2"), or a hue by its classes ("v-amd v-b"). */
  function token(name) {
    const probe = document.createElement("span");
    const isHue = name.startsWith("v-");
    if (isHue) probe.className = name;
    probe.style.color = `var(--${isHue ? "c" : name})`;
    document.body.append(probe);
    const value = getComputedStyle(probe).color;
    probe.remove();
    return value.startsWith("rgb") ? value : asRgb(value);
  }

  /* Plotly reads no oklab(), which mixed colours are computed to. */
  function asRgb(colour) {
    const pixel = new OffscreenCanvas(1, 1).getContext("2d");
    pixel.fillStyle = colour;
    pixel.fillRect(0, 0, 1, 1);
    return `rgb(${[...pixel.getImageData(0, 0, 1, 1).data].slice(0, 3).join(", ")})`;
  }

  /* Address -> what it answers with, for all charts of the page; forgotten when a part of the page is swapped. */
  const answers = new Map();

  function fetched(url) {
    if (!answers.has(url)) {
      const answer = fetch(url, { headers: { Accept: "application/json" } }).then((response) => {
        if (!response.ok) throw new Error(`the chart's figures answered ${response.status}`);
        return response.json();
      });
      answer.catch(() => answers.delete(url));
      answers.set(url, answer);
    }
    return answers.get(url);
  }

  async function figureOf(chart) {
    const figures = await fetched(chart.dataset.chartUrl);
    return figures.data ? figures : figures[chart.dataset.chart];
  }

  /* What a figure has instead where its drawing is narrow: fewer names, panels below each other. */
  function fitted(figure, width) {
    const narrow = (figure.narrower || []).find((part) => width <= part.up_to);
    if (!narrow) return figure;
    const data = figure.data.map((trace, at) => ({ ...trace, ...narrow.data[at] }));
    return { data, layout: { ...figure.layout, ...narrow.layout } };
  }

  function themed(figure) {
    const ink = token("ink"), line = token("line");
    const tickfont = { color: token("ink-2") };
    const axis = (given) => ({ ...given, tickfont, gridcolor: line, zerolinecolor: line, linecolor: line });
    const colours = (names) => (Array.isArray(names) ? names.map(token) : token(names));
    const data = figure.data.map((trace) => {
      if (trace.meta && trace.meta.scale) {
        return { ...trace, textfont: { ...trace.textfont, color: ink }, colorscale: trace.meta.scale.map((name, at) => [at, token(name)]) };
      }
      if (!trace.meta || !trace.meta.colours) return trace;
      const color = colours(trace.meta.colours);
      const next = { ...trace, marker: { ...trace.marker, color } };
      if (trace.line) next.line = { ...trace.line, color };
      if (trace.text) next.textfont = { ...trace.textfont, color: ink };
      for (const error of ["error_x", "error_y"]) if (trace[error]) next[error] = { ...trace[error], color: ink };
      return next;
    });
    const layout = { ...figure.layout, font: { ...figure.layout.font, color: token("ink-2"), family: getComputedStyle(document.body).fontFamily } };
    layout.title = { ...layout.title, font: { ...(layout.title || {}).font, color: ink } };
    layout.hoverlabel = { bgcolor: token("surface"), bordercolor: line, font: { color: ink } };
    layout.modebar = { bgcolor: "rgba(0,0,0,0)", color: token("ink-2"), activecolor: ink };
    if (layout.annotations) layout.annotations = layout.annotations.map((note) => ({ ...note, bgcolor: note.borderpad === 0 ? token("bg") : undefined, font: { ...note.font, color: ink } }));
    if (layout.shapes) layout.shapes = layout.shapes.map((shape) => (shape.colours ? { ...shape, line: { ...shape.line, color: token(shape.colours) } } : shape));
    for (const name of Object.keys(layout)) if (/^[xy]axis\d*$/.test(name)) layout[name] = axis(layout[name]);
    return { data, layout };
  }

  async function draw(chart) {
    const plot = chart.querySelector("[data-chart-plot]");
    chart.setAttribute("aria-busy", "true");
    try {
      const [library, figure] = await Promise.all([plotly(), chart.figure || figureOf(chart)]);
      chart.figure = figure;
      plot.hidden = false;
      const { data, layout } = themed(fitted(figure, plot.clientWidth));
      if (layout.height) plot.style.setProperty("--h", layout.height);
      await library.react(plot, data, layout, CONFIG);
      drawn.add(chart);
    } catch (problem) {
      drawn.delete(chart);
      plot.hidden = true; /* the drawing, or the table, says the same */
      console.warn(problem);
    } finally {
      chart.removeAttribute("aria-busy");
    }
  }

  document.addEventListener("htmx:load", () => answers.clear());
  /* Who points at the button is about to press it: the library is the largest part of the wait. */
  for (const hint of ["pointerover", "focusin", "touchstart"]) {
    document.addEventListener(hint, ({ target }) => {
      if (target.closest("[data-chart-open]")) plotly().catch(() => {});
    }, { passive: true });
  }
  document.addEventListener("click", (event) => {
    const open = event.target.closest("[data-chart-open]");
    if (!open) return;
    const chart = open.closest("[data-chart]"), plot = chart.querySelector("[data-chart-plot]");
    open.hidden = true;
    plot.hidden = false;
    plot.tabIndex = -1;
    plot.focus({ preventScroll: true }); /* the button that had it is gone */
    draw(chart);
  });
  function drawAgain() {
    for (const chart of drawn) {
      if (chart.isConnected) draw(chart);
      else drawn.delete(chart);
    }
  }
  document.addEventListener("accelweb:theme", drawAgain);
  for (const width of [640, 1100]) matchMedia(`(max-width: ${width}px)`).addEventListener("change", drawAgain);
})();
