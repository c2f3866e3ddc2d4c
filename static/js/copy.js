// A button with data-copy copies the text of the field that it names to the clipboard. Without scripts it is hidden.
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const field = document.getElementById(button.dataset.copy);
    field.select();
    // Pages without https only have the clipboard command.
    const isCopied = navigator.clipboard
      ? await navigator.clipboard.writeText(field.value).then(() => true, () => false)
      : document.execCommand("copy");
    button.textContent = isCopied ? "Copied" : "Press Ctrl+C";
  });
}
