// Draws each <figure data-chart> with values from the API. A table on the page has the same values.
(() => {
  const FIGURE = "figure[data-chart]";
  const COLOURS = { ink: "--ink", soft: "--soft", line: "--line", panel: "--panel", accent: "--accent", other: "--unsure" };
  const facts = new WeakMap();
  const plotOf = (figure) => figure.querySelector(".plot");
  const chartOf = (figure) => window.echarts?.getInstanceByDom(plotOf(figure));
  const short = (value) => `${Math.round(100 * value)} %`;

  // Draws a mean with its interval for each period, above the interval of the reference.
  function periods({ points, reference_low: low, reference_high: high }, { accent, other, soft }) {
    const held = points.filter(({ mean }) => mean !== null).map((point) => ({ ...point, name: new Date(point.start).toUTCString().slice(5, 16) }));
    const spans = held.flatMap((point) => (point.low === null ? [] : [[point.name, point.low], [point.name, point.high], [point.name, null]]));
    const band = (value, opacity) => ({
      type: "line", stack: "band", silent: true, showSymbol: false, lineStyle: { opacity: 0 }, areaStyle: { opacity, color: soft }, data: held.map(() => value),
    });
    const told = ({ name, mean, answers }) => `${name}\n${short(mean)}, ${answers ? `${answers} answers of people` : "by the judge alone"}`;
    return {
      xAxis: { type: "category", data: held.map(({ name }) => name) },
      yAxis: { type: "value", min: 0, max: 1, axisLabel: { formatter: short } },
      tooltip: { formatter: ({ dataIndex }) => told(held[dataIndex]) },
      series: [
        ...(low === null ? [] : [band(low, 0), band(high - low, 0.2)]),
        { type: "line", data: spans, showSymbol: false, silent: true, lineStyle: { width: 2, opacity: 0.55 } },
        {
          type: "line",
          showAllSymbol: true,
          data: held.map((point) => ({
            value: point.mean, ...(point.state === "Alarm" ? { symbol: "triangle", symbolSize: 16, itemStyle: { color: other } } : { symbol: "circle", symbolSize: 9 }),
          })),
        },
      ],
      color: [soft, soft, accent, accent].slice(low === null ? 2 : 0),
    };
  }

  // Reads the colours of the current theme from the properties in base.css.
  function theme(plot) {
    return Object.fromEntries(Object.entries(COLOURS).map(([name, property]) => {
      plot.style.color = `var(${property})`;
      return [name, getComputedStyle(plot).color];
    }));
  }

  function paint(figure) {
    const plot = plotOf(figure);
    const has = theme(plot);
    const own = periods(facts.get(figure).scores.find(({ score }) => score === figure.dataset.of), has);
    const lines = { lineStyle: { color: has.line } };
    const axis = ({ axisLabel, ...given }) =>
      ({ axisLabel: { color: has.ink, hideOverlap: true, ...axisLabel }, axisLine: lines, splitLine: lines, nameTextStyle: { color: has.soft }, ...given });
    chartOf(figure)?.dispose();
    window.echarts.init(plot).setOption({
      ...own,
      xAxis: axis(own.xAxis),
      yAxis: axis(own.yAxis),
      animation: false,
      backgroundColor: has.panel,
      textStyle: { fontFamily: getComputedStyle(plot).fontFamily },
      grid: { left: 8, right: 24, top: 32, bottom: 36, containLabel: true },
      tooltip: { ...own.tooltip, renderMode: "richText", confine: true, backgroundColor: has.panel, borderColor: has.line, textStyle: { color: has.ink } },
    });
  }

  let library = null;
  const load = (src) => (library ??= new Promise((onload, onerror) => document.head.append(make("script", { src, onload, onerror }))));

  async function draw(figure) {
    try {
      const [answer] = await Promise.all([fetch(figure.dataset.chartSrc), load(figure.dataset.library)]);
      facts.set(figure, await answer.json());
      paint(figure);
      for (const button of figure.querySelectorAll("[data-save]")) button.disabled = false;
    } catch {
      plotOf(figure).textContent = "The chart is not available now. The table has the same values.";
    }
  }

  const SAVED = {
    png: (chart) => chart.getDataURL({ type: "png", pixelRatio: 2 }),
    svg: (chart) => {
      const copy = window.echarts.init(null, null, { renderer: "svg", ssr: true, width: chart.getWidth(), height: chart.getHeight() });
      copy.setOption(chart.getOption());
      const href = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(copy.renderToSVGString())}`;
      copy.dispose();
      return href;
    },
  };

  // Draw a chart when its plot gets a width, as its fold opens. A plot that htmx replaced has no chart.
  const widths = new ResizeObserver((changed) => {
    for (const { target, contentRect } of changed) {
      const figure = target.closest(FIGURE);
      if (contentRect.width && target.querySelector("canvas")) chartOf(figure).resize();
      else if (contentRect.width) draw(figure);
    }
  });

  function watch() {
    widths.disconnect();
    for (const figure of document.querySelectorAll(FIGURE)) widths.observe(plotOf(figure));
  }
  watch();
  document.addEventListener("htmx:after:swap", watch);
  for (const query of ["(prefers-color-scheme: dark)", "print"]) {
    matchMedia(query).addEventListener("change", () => document.querySelectorAll(`${FIGURE}:has(canvas)`).forEach(paint));
  }
  document.addEventListener("click", ({ target }) => {
    const button = target.closest(`${FIGURE} [data-save]`);
    if (!button) return;
    const figure = button.closest(FIGURE);
    make("a", { href: SAVED[button.dataset.save](chartOf(figure)), download: `${figure.dataset.name}.${button.dataset.save}` }).click();
  });
})();
