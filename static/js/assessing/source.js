// The source documents are fetched with the page, so that they are at hand when the server is not.
(() => {
  const AFTER_MS = 400;
  const SAID = {
    busy: "Loading the source…",
    offline: "The server is unreachable. The source loads when it is back.",
    refused: "The source is hidden because you are signed out or the set is no longer assigned to you.",
  };
  const sheet = document.getElementById("source-sheet");
  const link = document.querySelector("a[data-sheet='source-sheet']");
  if (!sheet || !link) return;
  let isHere = false;
  let isUnderWay = false;
  let isBackMeanwhile = false;

  function tell(standing) {
    const words = document.createElement("p");
    words.className = "muted";
    words.setAttribute("role", "status");
    words.textContent = SAID[standing];
    sheet.replaceChildren(words);
  }

  async function bring() {
    if (isHere || isUnderWay) return;
    isUnderWay = true;
    if (!sheet.childElementCount) tell("busy");
    try {
      const answer = await fetch(link.href);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const text = page.querySelector(".read-text");
      isHere = text !== null;
      if (isHere) sheet.replaceChildren(text);
      else tell(answer.status >= 500 ? "offline" : "refused");
    } catch {
      tell("offline");
    }
    isUnderWay = false;
    if (!isBackMeanwhile) return;
    isBackMeanwhile = false;
    bring();
  }

  // What is under way may still fail, as it was sent before.
  function bringAgain() {
    isBackMeanwhile = isUnderWay;
    bring();
  }

  // Something stands in the sheet before it is opened first.
  tell("busy");
  setTimeout(bring, AFTER_MS);
  sheet.addEventListener("beforetoggle", bring);
  addEventListener("online", bringAgain);
})();
