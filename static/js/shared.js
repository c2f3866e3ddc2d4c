// What several scripts use.

// Of the cookie, not of the page: a sign-in in another tab gives a new token. Empty where there is none.
function csrfToken() {
  const cookie = document.cookie.split("; ").find((entry) => entry.startsWith("coverdict_csrf="));
  return cookie?.slice(cookie.indexOf("=") + 1) ?? "";
}

// What went wrong, above the page, until it is dismissed or something goes through (notices.js).
function notice(text) {
  const words = Object.assign(document.createElement("p"), { textContent: text });
  const dismiss = Object.assign(document.createElement("button"), { type: "button", className: "link", textContent: "Dismiss" });
  dismiss.dataset.dismiss = "";
  const box = Object.assign(document.createElement("div"), { className: "notice error" });
  box.append(words, dismiss);
  document.getElementById("notices").replaceChildren(box);
}
