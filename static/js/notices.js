// What went wrong with a request is told above the page, and what was typed stays.
(() => {
  const notices = () => document.getElementById("notices");
  const STANDS = "Your input is still here. Try again.";

  function tell(text) {
    const box = document.createElement("div");
    box.className = "notice error";
    const words = document.createElement("p");
    words.textContent = text;
    const dismiss = document.createElement("button");
    dismiss.type = "button";
    dismiss.className = "link";
    dismiss.dataset.dismiss = "";
    dismiss.textContent = "Dismiss";
    box.append(words, dismiss);
    notices().replaceChildren(box);
  }

  // A sign-in in another tab gives a new token, which only the cookie knows.
  document.addEventListener("htmx:config:request", (event) => {
    const { request } = event.detail.ctx;
    const cookie = document.cookie.split("; ").find((entry) => entry.startsWith("coverdict_csrf="));
    if (!cookie || !request.body) return;
    request.headers["X-CSRFToken"] = cookie.slice(cookie.indexOf("=") + 1);
    request.body.delete?.("csrfmiddlewaretoken");
  });

  // Errors replace nothing, unless the server says where they belong. 422 is a form with its faults.
  document.addEventListener("htmx:before:response", (event) => {
    const { ctx } = event.detail;
    const { status } = ctx.response;
    if (status < 400 || status === 422 || ctx.hx?.retarget) return;
    ctx.swap = "none";
    if (status >= 500) tell(`The server could not do that (${status}). ${STANDS}`);
    else if (status === 403) tell(`This page has expired, perhaps because you signed in again. Reload it. ${STANDS}`);
    else tell(`The request was refused (${status}). ${STANDS}`);
  });

  document.addEventListener("htmx:error", (event) => {
    if (event.detail.ctx?.request?.method) tell(`The server cannot be reached. ${STANDS}`);
  });

  // An act that goes through again takes the complaint away. A page that asks for news by itself does not.
  document.addEventListener("htmx:after:request", ({ detail: { ctx } }) => {
    if (ctx.response.status < 400 && ctx.request.method !== "GET") notices().replaceChildren();
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-dismiss]")) notices().replaceChildren();
  });
})();
