// Light or dark, as the system says or as somebody chose. This runs before anything is painted, so that a dark room is
// never lit up by a white page; that is why it is not a module.
"use strict";

(function () {
  const KEY = "archivist-theme";
  const chosen = localStorage.getItem(KEY);
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;

  window.archivistTheme = {
    /** "auto", "light" or "dark". */
    get() {
      return document.documentElement.dataset.theme || "auto";
    },
    set(theme) {
      if (theme === "auto") {
        delete document.documentElement.dataset.theme;
        localStorage.removeItem(KEY);
      } else {
        document.documentElement.dataset.theme = theme;
        localStorage.setItem(KEY, theme);
      }
    },
  };
})();
