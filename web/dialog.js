// Questions to whoever sits in front of it, each in a small dialog.

import { h } from "./dom.js";

/** Shows a dialog and answers with what `read` makes of it, or null if it was closed. */
function ask({ title, body, confirm, tone, read = () => true }) {
  return new Promise((resolve) => {
    let answer = null;
    const yes = h("button", { type: "submit", class: tone ?? "primary" }, confirm);
    const no = h("button", { type: "button", class: "plain", on: { click: () => dialog.close() } }, "Cancel");
    const form = h("form", {
      on: {
        submit(event) {
          event.preventDefault();
          answer = read();
          dialog.close();
        },
      },
    }, h("h2", { id: "dialog-title" }, title), body, h("div", { class: "buttons" }, yes, no));
    const dialog = h("dialog", {
      "aria-labelledby": "dialog-title",
      on: {
        close() {
          dialog.remove();
          resolve(answer);
        },
      },
    }, form);
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Whether to go on; with `reason`, the reason given, which may be empty. */
export function confirm({ title, text, button, tone, reason = false }) {
  const field = h("input", { id: "dialog-reason", type: "text", autocomplete: "off", maxlength: "500" });
  const asked = h("div", { class: "field" }, h("label", { for: "dialog-reason" }, "Why? (kept with the lesson)"), field);
  const body = [h("p", null, text), reason ? asked : null];
  return ask({ title, body, confirm: button, tone, read: () => (reason ? field.value.trim() : true) });
}

/** The token of the server, or null. */
export function askToken(wasWrong) {
  const field = h("input", { id: "dialog-token", type: "password", autocomplete: "off", required: true });
  const told = wasWrong ? "The server did not take the token that was given." : "This server wants to know who asks.";
  const body = [
    h("p", null, `${told} Its token stands where the server was started. It is kept until this tab is closed.`),
    h("div", { class: "field" }, h("label", { for: "dialog-token" }, "Token"), field),
  ];
  return ask({ title: "Who asks?", body, confirm: "Go on", read: () => field.value.trim() });
}

/** What the keys do. */
export function showKeys(keys) {
  const rows = keys.map(([names, does]) => h("div", null,
    h("dt", null, names.map((name) => h("kbd", null, name))), h("dd", null, does)));
  const close = h("button", { type: "button", class: "primary", on: { click: () => dialog.close() } }, "Close");
  const dialog = h("dialog", { "aria-labelledby": "dialog-title", on: { close: () => dialog.remove() } },
    h("h2", { id: "dialog-title" }, "Keys"), h("dl", { class: "keys" }, rows), h("div", { class: "buttons" }, close));
  document.body.append(dialog);
  dialog.showModal();
}
