"use strict";
// Everything here is a convenience: without it the page says the same things, except for the long metric tables.
(() => {
  const make = (name, attributes = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };

  // The list of kernels: sort by a column, filter by what a row says.
  const table = document.querySelector("table.kernels");
  if (table && table.tBodies[0].rows.length > 1) {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const value = (row, column) => row.cells[column].dataset.v;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = make("button", { type: "button" }, head.textContent);
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const numeric = rows.every((row) => value(row, column) !== "" && !Number.isNaN(Number(value(row, column))));
        const first = numeric && column > 2 ? "descending" : "ascending";
        const now = head.getAttribute("aria-sort");
        const order = now === first ? (first === "ascending" ? "descending" : "ascending") : first;
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", order);
        const sign = order === "ascending" ? 1 : -1;
        const compare = numeric
          ? (a, b) => Number(value(a, column)) - Number(value(b, column))
          : (a, b) => value(a, column).localeCompare(value(b, column));
        body.append(...[...rows].sort((a, b) => sign * compare(a, b)));
      });
    });
    if (rows.length > 5) {
      const input = make("input", { type: "search", id: "filter", autocomplete: "off" });
      const count = make("span", { role: "status" });
      const texts = rows.map((row) => row.textContent.toLowerCase());
      input.addEventListener("input", () => {
        const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
        let shown = 0;
        rows.forEach((row, place) => {
          row.hidden = !words.every((word) => texts[place].includes(word));
          shown += row.hidden ? 0 : 1;
        });
        count.textContent = words.length ? `${shown} of ${rows.length}` : "";
      });
      table.before(make("p", { class: "tools" }, make("label", { for: "filter" }, "Filter by name or limiter"), input, count));
    }
  }

  // A link to a kernel unfolds what it leads to.
  const unfold = (element) => {
    for (let node = element; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
  };
  const arrive = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    unfold(target);
    if (target.tagName === "ARTICLE") target.querySelector("details.more")?.setAttribute("open", "");
    target.scrollIntoView();
  };
  addEventListener("hashchange", arrive);
  arrive();

  // Copy buttons for commands.
  if (navigator.clipboard) {
    for (const block of document.querySelectorAll("pre.command")) {
      const button = make("button", { type: "button", class: "copy" }, "Copy the command");
      button.addEventListener("click", async () => {
        try {
          await navigator.clipboard.writeText(block.textContent.trim());
          button.textContent = "Copied";
        } catch {
          button.textContent = "Not allowed here: select the text instead";
        }
      });
      block.after(button);
    }
  }

  // Metric tables and most paths wait deflated in one block until they are opened.
  let data;
  const inflate = async () => {
    const packed = Uint8Array.from(atob(document.getElementById("packed").textContent), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
  };
  const unpacked = () => (data ??= inflate());
  const word = (number) => (number === null ? "n/a" : String(number));
  const build = async (details) => {
    const { names, units, says, said, same, kernels } = (await unpacked()).metrics;
    const kernel = kernels[details.dataset.k];
    const values = new Map();
    for (const [columns, cells] of [same, kernel]) columns.forEach((column, place) => values.set(column, cells[place]));
    const body = make("tbody");
    for (const column of [...values.keys()].sort((a, b) => a - b)) {
      const row = body.insertRow();
      row.append(
        make("th", { scope: "row" }, names[column]),
        make("td", { class: "n" }, word(values.get(column))),
        make("td", {}, units[column]),
        make("td", {}, says[said[column]]),
      );
    }
    const head = make("tr", {}, make("th", { scope: "col" }, "Metric"), make("th", { scope: "col", class: "n" }, "Value"), make("th", { scope: "col" }, "Unit"), make("th", { scope: "col" }, "What it is"));
    details.querySelector(".no-script").replaceWith(make("table", {}, make("thead", {}, head), body));
  };
  const searchable = (details) => {
    const rows = [...details.querySelectorAll("tbody tr")];
    const names = rows.map((row) => row.textContent.toLowerCase());
    const input = make("input", { type: "search", autocomplete: "off" });
    const count = make("span", { role: "status" }, ` ${rows.length} metrics`);
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      rows.forEach((row, place) => {
        row.hidden = !words.every((part) => names[place].includes(part));
        shown += row.hidden ? 0 : 1;
      });
      count.textContent = words.length ? ` ${shown} of ${rows.length}` : ` ${rows.length} metrics`;
    });
    details.querySelector("table").before(make("label", { class: "search" }, "Search ", input, count));
  };
  for (const details of document.querySelectorAll("details.metrics")) {
    details.addEventListener("toggle", async () => {
      if (!details.open || details.dataset.ready) return;
      details.dataset.ready = "yes";
      const note = details.querySelector(".no-script");
      try {
        if (note) await build(details);
        searchable(details);
      } catch {
        note.prepend("This browser cannot unpack the table. ");
      }
    });
  }

  // A kernel as Markdown, for an issue or a review.
  for (const article of document.querySelectorAll("article[data-copy]")) {
    const button = make("button", { type: "button", class: "copy" }, "Copy as Markdown");
    const name = article.querySelector("h2 code").textContent;
    button.setAttribute("aria-label", `Copy as Markdown: ${name}`);
    const say = make("span", { role: "status", class: "said" });
    button.addEventListener("click", async () => {
      try {
        const text = (await unpacked()).markdown[article.id.slice(1)];
        try {
          await navigator.clipboard.writeText(text);
          say.textContent = "Copied";
        } catch {
          // A page that was opened from a mail may not write to the clipboard: then the text is there to select.
          const area = make("textarea", { class: "markdown", readonly: "", "aria-label": `${name} as Markdown` });
          area.value = text;
          article.querySelector("textarea.markdown")?.remove();
          say.after(area);
          area.select();
          say.textContent = "Copy the selected text:";
        }
      } catch {
        say.textContent = "This browser cannot unpack the text.";
      }
    });
    article.querySelector(".measured").after(make("p", { class: "tools" }, button, say));
  }

  for (const details of document.querySelectorAll("details.path")) {
    const note = details.querySelector(":scope > .no-script");
    if (!note) continue;
    details.addEventListener("toggle", async () => {
      if (!details.open || details.dataset.ready) return;
      details.dataset.ready = "yes";
      try {
        // Markup that the report's own templates made and escaped.
        const markup = (await unpacked()).paths[details.dataset.k];
        note.replaceWith(document.createRange().createContextualFragment(markup));
      } catch {
        note.prepend("This browser cannot unpack it. ");
      }
    });
  }

  // Paper cannot be unfolded.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open]):not(.metrics)")];
    for (const details of folded) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of folded) details.open = false;
  });
})();
