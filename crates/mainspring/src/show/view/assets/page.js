// Keeps the page up to date: the server says when something changed, and the changed parts are
// fetched and exchanged. Without it, everything is there, but only as of when it was loaded.
"use strict";

const live = document.getElementById("live");
const said = document.getElementById("said");
/** Each part as the server sent it last. */
const parts = new Map();
/** The version that this page shows. */
let version = document.documentElement.dataset.version;
let events = null;
let fetching = false;
let again = false;

for (const part of document.querySelectorAll("[data-live]")) parts.set(part.id, part.outerHTML);

function ago(date) {
  const seconds = Math.round((Date.now() - date) / 1000);
  if (seconds < 5) return "just now";
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  return date.toLocaleDateString(undefined, { year: "numeric", month: "short", day: "numeric" });
}

function span(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** Everything that moves with the clock. */
function tick() {
  for (const time of document.querySelectorAll("time")) {
    const date = new Date(time.dateTime);
    if (Number.isNaN(date.getTime())) continue;
    const words = ago(date);
    if (time.textContent !== words) time.textContent = words;
    if (!time.title) time.title = date.toLocaleString();
  }
  for (const work of document.querySelectorAll("[data-since]")) {
    const seconds = (Date.now() - Number(work.dataset.since)) / 1000;
    const bar = work.querySelector("progress");
    if (bar) bar.value = seconds;
    const words = work.querySelector(".ran");
    if (words) words.textContent = span(seconds);
  }
}

/** Exchanges a part, and keeps what the reader was doing there. */
function exchange(old, fresh) {
  const active = document.activeElement;
  const inside = old.contains(active) && active !== old;
  const key = inside ? active.id || active.getAttribute("href") : null;
  const values = new Map();
  for (const field of old.querySelectorAll("select[id]")) values.set(field.id, field.value);
  old.replaceWith(fresh);
  for (const [id, value] of values) {
    const field = document.getElementById(id);
    if (field) field.value = value;
  }
  if (!key) return;
  const same = [...fresh.querySelectorAll("a[href], button, select, [tabindex]")];
  const next = same.find((one) => one.id === key || one.getAttribute("href") === key);
  if (next) next.focus({ preventScroll: true });
}

async function refresh() {
  if (fetching) {
    again = true;
    return;
  }
  fetching = true;
  try {
    const answer = await fetch(location.href);
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of fresh.querySelectorAll("[data-live]")) {
      const old = document.getElementById(part.id);
      if (!old || parts.get(part.id) === part.outerHTML) continue;
      parts.set(part.id, part.outerHTML);
      exchange(old, document.importNode(part, true));
    }
    document.title = fresh.title;
    version = fresh.documentElement.dataset.version;
    tick();
  } catch {
    // The connection for events notices that the server is gone, and says so.
  } finally {
    fetching = false;
    if (again) {
      again = false;
      refresh();
    }
  }
}

function say(state, words) {
  if (live.dataset.state === state) return;
  live.dataset.state = state;
  live.textContent = words;
}

/** A hidden page is not kept up to date: a browser allows a site only a few connections. */
function listen() {
  if (document.hidden) {
    if (events) events.close();
    events = null;
    return;
  }
  if (events) return;
  events = new EventSource("events");
  events.addEventListener("open", () => say("on", "live"));
  events.addEventListener("change", (event) => {
    if (event.data !== version) refresh();
  });
  events.addEventListener("error", () => say("off", "not connected: is `mainspring view` still running?"));
}

/** A button works without leaving the page. */
document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.method !== "post") return;
  event.preventDefault();
  const pressed = new URLSearchParams(new FormData(form));
  said.textContent = "";
  try {
    const answer = await fetch(form.action, { method: "POST", body: pressed });
    said.textContent = answer.ok ? "Done." : await answer.text();
    await refresh();
  } catch {
    said.textContent = "The page is not connected, so nothing was done.";
  }
});

document.addEventListener("visibilitychange", listen);
setInterval(tick, 1000);
// What changes without a file, such as a client that was killed.
setInterval(() => document.hidden || refresh(), 10000);
tick();
listen();
