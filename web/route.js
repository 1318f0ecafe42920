// Where in the panel one is: `#/memory?tool=bash&open=m-004`. The address says all of it, so that it can be sent on.

/** The name of the view and its parameters, as the address has them. */
export function current() {
  const [name, query] = location.hash.replace(/^#\/?/, "").split("?");
  return { name: name || "lessons", params: Object.fromEntries(new URLSearchParams(query ?? "")) };
}

/** The address of a view. Parameters that say nothing are left out. */
export function href(name, params = {}) {
  const said = Object.entries(params).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const query = new URLSearchParams(said).toString();
  return query ? `#/${name}?${query}` : `#/${name}`;
}

/** Goes there. With `quietly`, the way back does not lead through where one was. */
export function go(name, params, { quietly = false } = {}) {
  const wanted = href(name, params);
  if (wanted === location.hash) return;
  if (!quietly) {
    location.hash = wanted;
    return;
  }
  history.replaceState(null, "", wanted);
  window.dispatchEvent(new HashChangeEvent("hashchange"));
}

/** The same view with other parameters, such as a lesson that is opened beside it. */
export function here(more) {
  const { name, params } = current();
  return href(name, { ...params, ...more });
}
