// Builds elements. Whatever comes from a log is hostile until shown otherwise, so there is one way into the page, and it
// knows only text nodes and attributes that cannot run anything.

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element. `props`: attributes, and `on`, `data`, `style` as objects. */
export function h(name, props, ...children) {
  return build(document.createElement(name), props, children);
}

/** An SVG element. */
export function s(name, props, ...children) {
  return build(document.createElementNS(SVG, name), props, children);
}

function build(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (name === "data") {
      Object.assign(element.dataset, value);
    } else if (name === "style") {
      // The policy of the server forbids style attributes; single properties set from here are allowed.
      for (const [property, wanted] of Object.entries(value)) element.style.setProperty(property, wanted);
    } else {
      setAttribute(element, name, value);
    }
  }
  element.append(...flat(children));
  return element;
}

function setAttribute(element, name, value) {
  if (/^on|^srcdoc$|^src$|^action$|^formaction$|:/i.test(name)) throw new Error(`the attribute ${name} is not allowed`);
  // Links lead to other places of the panel and nowhere else.
  if (name === "href" && !String(value).startsWith("#")) throw new Error("a link must stay within the panel");
  element.setAttribute(name, value === true ? "" : String(value));
}

function flat(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}

/** Puts children in the place of whatever an element holds. */
export function fill(element, ...children) {
  element.replaceChildren(...flat(children));
  return element;
}

/**
 * Brings a list up to date and leaves alone what did not change, so that neither focus nor scrolling is lost when
 * something new arrives. Each entry is `{key, stamp, make}`: the same key and stamp mean the same element.
 */
export function refill(parent, entries) {
  const focused = document.activeElement?.closest?.("[data-focus]")?.dataset.focus;
  const known = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  const wanted = entries.map(({ key, stamp, make }) => {
    const old = known.get(key);
    if (old?.dataset.stamp === stamp) return old;
    const element = make();
    Object.assign(element.dataset, { key, stamp });
    return element;
  });
  // Moving an element takes its focus away, so what stands in its place already is not touched.
  const keep = new Set(wanted);
  for (const child of [...parent.children]) if (!keep.has(child)) child.remove();
  wanted.forEach((element, at) => {
    if (parent.children[at] !== element) parent.insertBefore(element, parent.children[at] ?? null);
  });
  if (focused && !document.activeElement?.closest?.("[data-focus]")) {
    parent.querySelector(`[data-focus="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }
}

/** A short fingerprint of anything that JSON can hold, to see whether it changed. */
export function stampOf(value) {
  const text = JSON.stringify(value) ?? "";
  let hash = 5381;
  for (let at = 0; at < text.length; at += 1) hash = ((hash << 5) + hash + text.charCodeAt(at)) | 0;
  return `${text.length}.${hash >>> 0}`;
}
