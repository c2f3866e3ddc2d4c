// After an answer, give its digit keys to the next open question.
document.addEventListener("change", ({ target }) => {
  const question = target.closest("[data-rated]");
  if (!question || !target.checked) return;
  for (const answer of question.querySelectorAll("[data-key]")) delete answer.dataset.key;
});
