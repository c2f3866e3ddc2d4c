// A button with data-copy copies the text of the field that it names to the clipboard. Without scripts it is hidden.
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    document.getElementById(button.dataset.copy).select();
    // Also pages without https have this command.
    button.textContent = document.execCommand("copy") ? "Copied" : "Press Ctrl+C";
  });
}
