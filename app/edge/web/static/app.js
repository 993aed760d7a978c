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
// A slash goes to the search, as on other sites, unless something is being typed.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select")) return;
  const search = document.querySelector(".find input");
  if (!search) return;
  event.preventDefault();
  search.focus();
});
// A link to one guide opens it.
const named = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
if (named instanceof HTMLDetailsElement) named.open = true;
// Times as the viewer's clock shows them; without scripts, UTC is said. Lists show the day, and the rest on demand.
const when = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const local = (root) => {
  for (const time of root.querySelectorAll("time[datetime]:not([data-local])")) {
    const value = new Date(time.dateTime);
    if (Number.isNaN(value.getTime())) continue;
    const short = time.dataset.day !== undefined;
    time.dataset.local = "";
    time.title = short
      ? `${when.format(value)} · ${time.title}`
      : `${time.textContent} · ${Intl.DateTimeFormat().resolvedOptions().timeZone}`;
    time.textContent = (short ? day : when).format(value);
  }
};
// Blocks of code can be copied as a whole.
const copyable = (root) => {
  if (!navigator.clipboard) return;
  for (const code of root.querySelectorAll(".prose pre > code")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "quiet";
    button.textContent = "Copy";
    button.setAttribute("aria-live", "polite");
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    });
    code.before(button);
  }
};
const dressed = (root) => {
  local(root);
  copyable(root);
};
dressed(document);

const fetched = async (url, options) => {
  const answer = await fetch(url, { credentials: "same-origin", ...options });
  return new DOMParser().parseFromString(await answer.text(), "text/html");
};
const swap = (page, id) => {
  const fresh = page.getElementById(id);
  const old = document.getElementById(id);
  if (!fresh || !old) return false;
  dressed(fresh);
  old.replaceWith(fresh);
  return true;
};

// A link that opens something in place: the part of the page that it names is fetched and put here.
document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-in-place]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const id = link.dataset.inPlace;
  try {
    if (!swap(await fetched(link.href), id)) throw new Error(id);
    document.getElementById(id).querySelector("a[data-in-place]")?.focus();
  } catch {
    location.href = link.href;
  }
});

// The preview follows what is typed.
for (const form of document.querySelectorAll("form[data-preview]")) {
  let waiting = 0;
  let asked = 0;
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const mine = ++asked;
      const fields = new URLSearchParams(new FormData(form));
      fields.set("action", "preview");
      try {
        // `form.action` would be its buttons of that name.
        const page = await fetched(form.getAttribute("action"), { method: "POST", body: fields });
        if (mine === asked) swap(page, "preview");
      } catch { /* the next key asks again */ }
    }, 1500);
  });
}

// A draft that was not sent is not left without a question.
for (const form of document.querySelectorAll("form[data-draft]")) {
  let unsent = false;
  form.addEventListener("input", () => { unsent = true; });
  form.addEventListener("submit", () => { unsent = false; });
  addEventListener("beforeunload", (event) => { if (unsent) event.preventDefault(); });
}

// A page that shows work in progress looks again until it is done.
const look = async (node) => {
  await new Promise((done) => setTimeout(done, 1500));
  try {
    if (!swap(await fetched(location.href), node.id)) return;
  } catch { /* try again */ }
  const next = document.getElementById(node.id);
  if (next?.dataset.running !== undefined) look(next);
};
for (const node of document.querySelectorAll("[data-running]")) look(node);

// Files are sent one by one, each with its progress and its outcome.
for (const form of document.querySelectorAll("form[data-upload]")) {
  const list = document.getElementById(form.dataset.upload);
  const send = (file) => new Promise((done) => {
    const line = list.appendChild(document.createElement("li"));
    line.className = "hit";
    line.append(`${file.name} `);
    const bar = line.appendChild(document.createElement("progress"));
    bar.max = 1;
    bar.setAttribute("aria-label", `Sending ${file.name}`);
    const said = line.appendChild(document.createElement("p"));
    said.className = "hint";
    const fields = new FormData(form);
    fields.delete("file");
    fields.append("file", file);
    fields.set("once", crypto.randomUUID());
    const request = new XMLHttpRequest();
    request.upload.onprogress = (event) => {
      bar.value = event.loaded / event.total;
      said.textContent = event.loaded < event.total ? `${Math.round(bar.value * 100)} % sent` : "Sent; being read";
    };
    request.onloadend = () => {
      const page = new DOMParser().parseFromString(request.responseText, "text/html");
      const outcome = page.querySelector("#outcomes > li");
      if (outcome) line.replaceWith(outcome);
      else {
        bar.remove();
        said.className = "wrong";
        said.textContent = page.querySelector("main p")?.textContent ?? "It could not be sent; try again.";
      }
      done();
    };
    request.open("POST", form.action);
    request.send(fields);
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button[type=submit]");
    button.disabled = true;
    list.previousElementSibling.classList.remove("hidden");
    for (const file of form.querySelector("input[type=file]").files) await send(file);
    button.disabled = false;
    form.querySelector("input[type=file]").value = "";
  });
}
