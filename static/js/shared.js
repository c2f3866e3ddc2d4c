// What several scripts use.

// Of the cookie, not of the page: a sign-in in another tab gives a new token. Empty where there is none.
function csrfToken() {
  const cookie = document.cookie.split("; ").find((entry) => entry.startsWith("coverdict_csrf="));
  return cookie?.slice(cookie.indexOf("=") + 1) ?? "";
}

// An element with these properties, and what stands in it.
function make(tag, properties = {}, ...content) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...content);
  return made;
}

// What went wrong, above the page, until it is dismissed or something goes through (notices.js).
function notice(text) {
  const dismiss = make("button", { type: "button", className: "link" }, "Dismiss");
  dismiss.dataset.dismiss = "";
  const box = make("div", { className: "notice error" }, make("p", {}, text), dismiss);
  document.getElementById("notices").replaceChildren(box);
  return box;
}

// What an act on this browser's storage gives; null where nothing may be kept.
function attempt(act) {
  try {
    return act();
  } catch {
    return null;
  }
}

// What keys.js does with keys: "hold", "go" or "settle".
const tellKeys = (detail) => document.dispatchEvent(new CustomEvent("keys", { detail }));

// What leave.js waits for: "busy", "done" or "failed".
const tellSaving = (detail) => document.dispatchEvent(new CustomEvent("saving", { detail }));

// Turns a text that scrolls by itself to what was found in it.
function scrollWithin(text, found) {
  if (!found || text.scrollHeight <= text.clientHeight || getComputedStyle(text).overflowY === "visible") return;
  const { top, bottom } = found.getBoundingClientRect();
  const box = text.getBoundingClientRect();
  if (top < box.top || bottom > box.bottom) text.scrollTop += top - box.top - box.height / 3;
}
