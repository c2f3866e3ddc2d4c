// A button with data-copy puts the words of the field that it names on the clipboard. Without scripts it is not shown.
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const field = document.getElementById(button.dataset.copy);
    field.select();
    // Pages without https have no clipboard but that of the command.
    const isCopied = navigator.clipboard
      ? await navigator.clipboard.writeText(field.value).then(() => true, () => false)
      : document.execCommand("copy");
    button.textContent = isCopied ? "Copied" : "Press Ctrl+C";
  });
}
