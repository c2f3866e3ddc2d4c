// Keys press elements on screen: an element with data-key="x" (or "1 0") is clicked, or focused if it takes text.
// Off while typing and with modifiers; while a sheet is open only its own key and Escape work.
// A key that is pressed before the next page is ready waits and is not lost.
(() => {
  const early = [];
  const CALM_MS = 400;
  // A finger that rests on a key must not block a page's keys.
  const DEAF_AT_MOST_MS = 1_200;
  const SIGN_MS = 2_000;
  let isReady = false;
  let calmAt = 0;
  let deafUntil = 0;
  const TYPED = "input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable]";

  function find(key) {
    const named = document.querySelectorAll(`[data-key~="${CSS.escape(key)}"]`);
    return [...named].find((element) => !element.disabled && element.checkVisibility());
  }

  const opens = (element, sheet) => [element.getAttribute("popovertarget"), element.dataset.sheet].includes(sheet.id);

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.target.matches?.(TYPED)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const key = meant(event);
    if (isStrayDigit(key)) event.preventDefault();
    else if (!isReady) early.push(key);
    else if (press(key)) event.preventDefault();
  });

  // A digit is meant by its place on the keyboard: digits of any script, and those that need Shift elsewhere.
  function meant({ key, code, shiftKey }) {
    const digit = /^(?:Digit|Numpad)(\d)$/.exec(code)?.[1];
    return digit && !shiftKey && !find(key) ? digit : key;
  }

  function press(key) {
    const element = find(key);
    const sheet = document.querySelector(".sheet:popover-open");
    if (!element || (sheet && !opens(element, sheet))) return false;
    if (element.matches(TYPED)) {
      element.focus();
      element.select?.();
    } else {
      element.click();
    }
    return true;
  }

  // A page that is about to show another one makes keys wait ("hold") and presses them there ("go"). If the same
  // digits mean something else from now on ("settle"), the remaining keys of a burst are dropped.
  document.addEventListener("keys", ({ detail }) => {
    if (detail === "settle") {
      early.length = 0;
      calmAt = performance.now() + CALM_MS;
      deafUntil = performance.now() + DEAF_AT_MOST_MS;
    }
    isReady = detail !== "hold";
    pressEarly();
  });

  function isStrayDigit(key) {
    if (performance.now() >= calmAt) return false;
    calmAt = /^\d$/.test(key) ? Math.min(performance.now() + CALM_MS, deafUntil) : 0;
    if (calmAt > 0) showDropped(key);
    return calmAt > 0;
  }

  // Visible only: a screen reader is reading the next claim.
  function showDropped(key) {
    document.querySelector(".dropped")?.remove();
    const sign = make("p", { className: "dropped", ariaHidden: "true" }, make("b", {}, key), " came too soon: press it again.");
    document.body.append(sign);
    setTimeout(() => sign.remove(), SIGN_MS);
  }
  document.addEventListener("pointerdown", () => (calmAt = 0), { capture: true });

  function pressEarly() {
    while (isReady && early.length) press(early.shift());
  }

  // By then the deferred scripts have run, and htmx, which waits one turn, has processed the page.
  addEventListener("DOMContentLoaded", () => setTimeout(() => {
    isReady = true;
    pressEarly();
  }));

  // A link with a sheet opens it with its page's text, fetched once; without scripts it is a link.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-sheet]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const sheet = document.getElementById(link.dataset.sheet);
    sheet.togglePopover();
    if (sheet.childElementCount > 0 && sheet.dataset.shows === link.href) return;
    sheet.replaceChildren();
    sheet.dataset.shows = link.href;
    htmx.ajax("GET", link.href, { target: sheet, swap: "innerHTML" });
  });
})();
