"use strict";
(() => {
  const form = document.getElementById("filters");
  if (!form) return;
  const items = [...document.querySelectorAll("#entries > li")];
  const papers = document.getElementById("papers");
  const count = document.getElementById("count");
  const nothing = document.getElementById("nothing");
  const names = [...form.elements].map((field) => field.name).filter(Boolean);
  const chosen = () => Object.fromEntries(names.map((name) => [name, form.elements[name].value.trim()]));

  function show() {
    const { q, ...exact } = chosen();
    const words = q.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const item of items) {
      const fits =
        Object.entries(exact).every(([name, value]) => !value || item.dataset[name] === value) &&
        words.every((word) => item.dataset.text.includes(word));
      item.hidden = !fits;
      shown += fits;
    }
    const all = shown === items.length;
    papers.hidden = Boolean(q) || Object.values(exact).some(Boolean);
    nothing.hidden = shown > 0;
    count.textContent = all ? `${shown} entries` : `${shown} of ${items.length} entries`;
  }

  // What is chosen stands in the address: a view can be linked to, and "back" returns to it.
  function store() {
    const given = Object.entries(chosen()).filter(([, value]) => value);
    const text = new URLSearchParams(given).toString();
    history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
    show();
  }

  function restore() {
    if (location.hash && !location.hash.includes("=")) return; // an anchor on this page
    const given = new URLSearchParams(location.hash.slice(1));
    for (const name of names) form.elements[name].value = given.get(name) ?? "";
    show();
  }

  form.addEventListener("input", store);
  form.addEventListener("reset", () => setTimeout(store));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const first = items.find((item) => !item.hidden);
    if (first) first.querySelector("a").click();
  });
  addEventListener("hashchange", () => {
    restore();
    if (location.hash.includes("=")) form.scrollIntoView();
  });
  addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (event.key === "/" && !typing) {
      event.preventDefault();
      form.elements.q.focus();
    } else if (event.key === "Escape" && names.some((name) => form.elements[name].value)) {
      event.preventDefault();
      form.reset();
    }
  });
  restore();
})();
