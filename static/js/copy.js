// A button with data-copy copies the text of the field with this id. Without scripts the button is hidden.
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    document.getElementById(button.dataset.copy).select();
    // This command also works on pages without HTTPS, unlike the clipboard API.
    button.textContent = document.execCommand("copy") ? "Copied" : "Press Ctrl+C";
  });
}
