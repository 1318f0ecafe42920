// Which reflections run and which ended lately, as the stream of events tells.

/** A reflection of which no end is heard within this time has come to one unheard. Milliseconds. */
const FORGOTTEN = 15 * 60_000;
/** How many that ended are remembered. */
const REMEMBERED = 3;

let running = [];
let ended = [];

/** Takes a message of the stream. */
export function note(type, data) {
  if (type === "archivist_reflection_start") {
    running.push(data);
  } else if (type === "archivist_reflection_complete") {
    // An end does not name its session: of those that run, it is the oldest of its scenario.
    const at = running.findIndex((one) => one.scenario === data.scenario);
    const [begun] = at < 0 ? [] : running.splice(at, 1);
    ended = [{ ...data, sessionId: begun?.sessionId }, ...ended].slice(0, REMEMBERED);
  }
}

/** Those that run, the oldest first, and those that ended, the latest first. */
export function reflections() {
  running = running.filter((one) => Date.now() - Date.parse(one.ts) < FORGOTTEN);
  return { running, ended };
}
