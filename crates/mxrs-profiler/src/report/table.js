// The statistics, sorted by any column.
(() => {
  const columns = ["Category", "Name", "Unit", "Count", "Total", "Min", "Max", "Mean", "p50", "p90", "p99"];
  const table = document.getElementById("stats");
  const N_TEXTS = 3;
  let order = { column: 4, ascending: false };
  let wanted = "";
  const cells = (row) => [row.category, row.name, row.unit, row.count, ...row.values];
  const text = (value) => (typeof value === "number" ? +value.toPrecision(6) : value);

  function draw() {
    const head = element("tr");
    columns.forEach((name, column) => {
      const isSorted = order.column === column;
      const button = element("button", { type: "button" }, name + (isSorted ? (order.ascending ? " ▲" : " ▼") : ""));
      button.addEventListener("click", () => {
        order = { column, ascending: isSorted ? !order.ascending : column < N_TEXTS };
        draw();
        table.querySelectorAll("th button")[column].focus();
      });
      const sort = isSorted ? (order.ascending ? "ascending" : "descending") : "none";
      head.append(element("th", { "aria-sort": sort, scope: "col", class: column < N_TEXTS ? "name" : "" }, button));
    });
    const rows = data.stats.filter((row) => `${row.category} ${row.name}`.toLowerCase().includes(wanted));
    const sign = order.ascending ? 1 : -1;
    rows.sort((a, b) => {
      const [x, y] = [cells(a)[order.column], cells(b)[order.column]];
      return sign * (typeof x === "number" ? x - y : x.localeCompare(y));
    });
    const body = element("tbody", {}, ...rows.map((row) => element("tr", {}, ...cells(row).map(
      (value, column) => element("td", column < N_TEXTS ? { class: "name", title: value } : {}, String(text(value)))))));
    table.replaceChildren(element("thead", {}, head), body);
  }
  document.getElementById("filter").addEventListener("input", (event) => {
    wanted = event.target.value.trim().toLowerCase();
    draw();
  });
  draw();
})();
