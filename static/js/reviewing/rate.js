// Digits answer the first open question; an answered question leaves its keys to the next one.
document.addEventListener("change", ({ target }) => {
  const question = target.closest("[data-rated]");
  if (!question || !target.checked) return;
  for (const answer of question.querySelectorAll("[data-key]")) delete answer.dataset.key;
});
