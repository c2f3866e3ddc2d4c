// Functions that several scripts use

// Reads the token from the cookie, because a sign-in in another tab replaces it. Returns "" without a cookie.
function csrfToken() {
  const cookie = document.cookie.split("; ").find((entry) => entry.startsWith("coverdict_csrf="));
  return cookie?.slice(cookie.indexOf("=") + 1) ?? "";
}

// Makes an element with these properties and children.
function make(tag, properties = {}, ...content) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...content);
  return made;
}

// Shows an error above the page until it is dismissed or a request succeeds (notices.js).
function notice(text) {
  const dismiss = make("button", { type: "button", className: "link" }, "Dismiss");
  dismiss.dataset.dismiss = "";
  const box = make("div", { className: "notice error" }, make("p", {}, text), dismiss);
  document.getElementById("notices").replaceChildren(box);
  return box;
}

// Returns the result of an action on this browser's storage; null if the storage is not allowed.
function attempt(act) {
  try {
    return act();
  } catch {
    return null;
  }
}

// Sends "hold", "go" or "settle" to keys.js.
const tellKeys = (detail) => document.dispatchEvent(new CustomEvent("keys", { detail }));

// Sends "busy", "done" or "failed" to leave.js.
const tellSaving = (detail) => document.dispatchEvent(new CustomEvent("saving", { detail }));

// Scrolls a text that has its own scroll bar, so that a part of it is visible.
function scrollWithin(text, found) {
  if (!found || text.scrollHeight <= text.clientHeight || getComputedStyle(text).overflowY === "visible") return;
  const { top, bottom } = found.getBoundingClientRect();
  const box = text.getBoundingClientRect();
  if (top < box.top || bottom > box.bottom) text.scrollTop += top - box.top - box.height / 3;
}
