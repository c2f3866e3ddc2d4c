// The address of a new project follows its name until somebody edits the address.
const field = document.querySelector("[data-slug-of]");
const source = document.getElementById(field.dataset.slugOf);
let isOwn = field.value !== "";

function follow() {
  if (isOwn) return;
  const words = source.value.normalize("NFKD").toLowerCase().replace(/[^a-z0-9\s_-]/g, "");
  field.value = words.trim().replace(/[\s_-]+/g, "-").slice(0, 54);
}

field.addEventListener("input", () => (isOwn = field.value !== ""));
source.addEventListener("input", follow);
// A name may have been typed before this script was loaded.
follow();
