// Shows errors of requests above the page. The form keeps its input.
(() => {
  const notices = () => document.getElementById("notices");
  const STANDS = "Your input is still here. Try again.";
  // The method of the failed request
  let failed = "";

  function complain(method, text) {
    failed = method;
    notice(`${text} ${STANDS}`);
  }

  document.addEventListener("htmx:config:request", (event) => {
    const { request } = event.detail.ctx;
    const token = csrfToken();
    if (!token || !request.body) return;
    request.headers["X-CSRFToken"] = token;
    request.body.delete?.("csrfmiddlewaretoken");
  });

  // An error response replaces nothing, unless the server names a place for it. A response with 422 is a form with errors.
  document.addEventListener("htmx:before:response", (event) => {
    const { ctx } = event.detail;
    const { status } = ctx.response;
    if (status < 400 || status === 422 || ctx.hx?.retarget) return;
    ctx.swap = "none";
    const { method } = ctx.request;
    if (status >= 500) complain(method, `The server could not do that (${status}).`);
    else if (status === 403) complain(method, "This page has expired, perhaps because you signed in again. Reload it.");
    else complain(method, `The request was refused (${status}).`);
  });

  document.addEventListener("htmx:error", (event) => {
    const method = event.detail.ctx?.request?.method;
    if (method) complain(method, "The server cannot be reached.");
  });

  // A successful request removes the notice. After a failed POST, automatic GET requests do not remove it.
  document.addEventListener("htmx:after:request", ({ detail: { ctx } }) => {
    const isNews = ctx.request.method === "GET" && failed !== "GET";
    if (ctx.response.status < 400 && !isNews) notices().replaceChildren();
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-dismiss]")) notices().replaceChildren();
  });
})();
