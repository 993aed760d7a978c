// Comfort only: every page works without it.
"use strict";
for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const field = document.getElementById(button.dataset.copy);
    await navigator.clipboard.writeText(field.value ?? field.textContent);
    const said = button.closest(".secret, [data-copyable]").querySelector("[data-copied]");
    said.hidden = false;
  });
}
for (const time of document.querySelectorAll("time[datetime]")) {
  const value = new Date(time.dateTime);
  if (!Number.isNaN(value.getTime())) time.title = value.toLocaleString();
}
// A link to one guide opens it.
const named = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
if (named instanceof HTMLDetailsElement) named.open = true;
