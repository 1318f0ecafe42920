// Every request of the panel, and the token that a server may ask for.

import { askToken } from "./dialog.js";

const TOKEN = "archivist-token";

let asking = null;
/** Whoever closed the question once is not asked again before the page is loaded anew. */
let isRefused = false;

/** What went wrong, and what to do about it. */
export class Problem extends Error {
  constructor({ title, detail, hint, status }) {
    super(detail || title);
    Object.assign(this, { title, detail, hint, status });
  }
}

/** The headers of a request, with the token if there is one. */
export function headers(more) {
  const token = sessionStorage.getItem(TOKEN);
  return { ...more, ...(token ? { Authorization: `Bearer ${token}` } : {}) };
}

/** Asks for a token, once for however many requests were refused, and says whether one was given. */
export async function unlock() {
  if (isRefused) return false;
  asking ??= askToken(Boolean(sessionStorage.getItem(TOKEN))).then((token) => {
    isRefused = !token;
    if (token) sessionStorage.setItem(TOKEN, token);
    return Boolean(token);
  }).finally(() => {
    asking = null;
  });
  return asking;
}

async function request(method, path, body) {
  const send = () => fetch(path, {
    method,
    cache: "no-store",
    headers: headers({ Accept: "application/json", ...(body ? { "Content-Type": "application/json" } : {}) }),
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  let answer;
  try {
    answer = await send();
    while (answer.status === 401 && (await unlock())) answer = await send();
  } catch {
    throw new Problem({
      title: "The server does not answer",
      detail: "It was stopped, or cannot be reached from here.",
      hint: "Start it again with `archivist serve`; this page finds it by itself.",
      status: 0,
    });
  }
  const told = await answer.json().catch(() => null);
  if (answer.ok) return told;
  throw new Problem({ title: `The server answered ${answer.status}`, ...told, status: answer.status });
}

/** `/v1/lessons` with its parameters, leaving out those that say nothing. */
export function path(base, params = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== null && value !== undefined && value !== "") query.set(name, value);
  }
  const text = query.toString();
  return text ? `${base}?${text}` : base;
}

const lesson = (id, rest = "") => `/v1/lessons/${encodeURIComponent(id)}${rest}`;

export const api = {
  health: () => request("GET", "/v1/health"),
  stats: () => request("GET", "/v1/stats"),
  lessons: (params) => request("GET", path("/v1/lessons", params)),
  why: (id) => request("GET", lesson(id, "/why")),
  history: (id) => request("GET", lesson(id, "/history")),
  decide: (id, what, body = {}) => request("POST", lesson(id, `/${what}`), body),
  episodes: (params) => request("GET", path("/v1/episodes", params)),
  steps: (id, params) => request("GET", path(`/v1/episodes/${encodeURIComponent(id)}/steps`, params)),
  jobs: () => request("GET", "/v1/jobs"),
  spend: (days) => request("GET", path("/v1/spend", { days })),
};
