// The address of a new project follows its name until somebody types one.
const field = document.querySelector("[data-slug-of]");
const source = document.getElementById(field.dataset.slugOf);
let isOwn = field.value !== "";

const slugOf = (name) =>
  name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9\s_-]/g, "")
    .trim()
    .replace(/[\s_-]+/g, "-")
    .slice(0, 54);

const follow = () => {
  if (!isOwn) field.value = slugOf(source.value);
};

field.addEventListener("input", () => {
  isOwn = field.value !== "";
});
source.addEventListener("input", follow);
// A name may have been typed before this was loaded.
follow();
