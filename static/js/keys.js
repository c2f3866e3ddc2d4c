// Keys for elements: a key clicks the element with data-key="x" (or "1 0"), or focuses it if it takes text. Keys are
// off while a person types and with modifiers. An open sheet allows only its own key and Escape. Keys that are
// pressed before the next page is ready are stored and pressed then.
(() => {
  const early = [];
  const CALM_MS = 400;
  // The longest time in milliseconds for which digits are ignored, even if a finger rests on a key.
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

  // Digits are recognised by their place on the keyboard, because keyboards of other scripts have other characters.
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

  // "hold" stores keys while another page is loading, and "go" presses them there. "settle" drops the remaining
  // digits of a burst, because they would mean something else on the new page.
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

  // Hide this message from screen readers, because they are reading the next claim.
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

  // Wait one turn, because htmx processes the page one turn after the deferred scripts.
  addEventListener("DOMContentLoaded", () => setTimeout(() => {
    isReady = true;
    pressEarly();
  }));

  // A link with data-sheet opens its page in a sheet, and fetches it once. Without scripts it is an ordinary link.
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
