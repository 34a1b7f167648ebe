// Everything here makes a page nicer that works without it.
"use strict";

// Copy buttons.
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const text = document.getElementById(button.dataset.copy).textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      const selection = window.getSelection();
      selection.selectAllChildren(document.getElementById(button.dataset.copy));
      button.textContent = "Selected: press Ctrl+C";
    }
  });
}

// Questions before what cannot be undone.
for (const form of document.querySelectorAll("form[data-confirm]")) {
  form.addEventListener("submit", (event) => {
    if (!window.confirm(form.dataset.confirm)) event.preventDefault();
  });
}

// Values of charts: read in a line below, by pointer or by arrow keys. Without scripts a browser shows their titles.
for (const figure of document.querySelectorAll("figure.chart")) {
  const svg = figure.querySelector("svg");
  const stripes = [...figure.querySelectorAll(".hits > path")];
  if (stripes.length === 0) continue;
  const texts = stripes.map((stripe) => {
    const title = stripe.firstElementChild;
    title.remove();
    return title.textContent;
  });
  const line = document.createElement("p");
  line.className = "reading";
  line.setAttribute("aria-live", "polite");
  svg.after(line);
  let at = -1;
  const read = (index) => {
    stripes[at]?.classList.remove("at");
    at = index;
    stripes[at]?.classList.add("at");
    line.textContent = texts[at] ?? "";
  };
  svg.tabIndex = 0;
  svg.addEventListener("pointerover", (event) => {
    const index = stripes.indexOf(event.target);
    if (index >= 0) read(index);
  });
  svg.addEventListener("pointerleave", () => read(-1));
  svg.addEventListener("focus", () => { if (at < 0) read(stripes.length - 1); });
  svg.addEventListener("blur", () => read(-1));
  svg.addEventListener("keydown", (event) => {
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: stripes.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    read(Math.min(Math.max(to, 0), stripes.length - 1));
  });
}
