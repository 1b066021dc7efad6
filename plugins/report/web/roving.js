// One stop of the tab key for a whole table of links; arrows go on from there.

/** Let arrows move between the links of a table's body; Home and End go to the ends of a row. */
export function roving(table) {
  const linkRows = () => [...table.querySelectorAll("tbody tr")]
    .map((row) => [...row.querySelectorAll("td a")]).filter((links) => links.length);
  linkRows().flat().forEach((link, i) => link.setAttribute("tabindex", i ? "-1" : "0"));
  table.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const rows = linkRows();
    const y = rows.findIndex((links) => links.includes(event.target));
    if (y < 0) return;
    const x = rows[y].indexOf(event.target);
    const to = {
      ArrowLeft: [y, x - 1], ArrowRight: [y, x + 1], ArrowUp: [y - 1, x], ArrowDown: [y + 1, x],
      Home: [y, 0], End: [y, rows[y].length - 1],
    }[event.key];
    const row = to && rows[to[0]];
    if (!to) return;
    event.preventDefault();
    const next = row?.[event.key.endsWith("Up") || event.key.endsWith("Down") ? Math.min(to[1], row.length - 1) : to[1]];
    if (!next) return;
    event.target.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  });
  return table;
}
