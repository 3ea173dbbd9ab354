// Light and dark: the system's choice until the button says otherwise, kept where the browser lets a page keep anything.

const THEMES = ["system", "light", "dark"];
let theme = "system";

function stored(name) {
  try {
    return localStorage.getItem(name);
  } catch (error) {
    if (error instanceof DOMException) return null;
    throw error;
  }
}

function store(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
  }
}

function setTheme(name) {
  theme = THEMES.includes(name) ? name : "system";
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  const button = document.getElementById("theme");
  replace(button, `Theme: ${theme}`);
  button.setAttribute("aria-label", `Theme: ${theme}. Change it`);
}

function nextTheme() {
  setTheme(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]);
  store("ptxbench-theme", theme);
}
