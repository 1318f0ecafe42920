// The stream of events. It is read with fetch because an EventSource cannot send a token.

import { headers, unlock } from "./api.js";

const SHORTEST = 500;
const LONGEST = 15_000;

/**
 * Listens for ever. `hear(type, data)` gets each message, `stand(isConnected)` whether there is a connection.
 * After a break the server is told what was heard last, and sends what came since.
 */
export async function listen(hear, stand) {
  let last = "0";
  let pause = SHORTEST;
  for (;;) {
    try {
      const answer = await fetch(`/v1/events?after=${encodeURIComponent(last)}`, {
        cache: "no-store",
        headers: headers({ Accept: "text/event-stream", "Last-Event-ID": last }),
      });
      if (answer.status === 401) await unlock();
      if (answer.ok && answer.body) {
        stand(true);
        pause = SHORTEST;
        for await (const message of messages(answer.body)) {
          last = message.id ?? last;
          hear(message.type, message.data);
        }
      }
    } catch {
      // A broken connection is no news to anybody but `stand`.
    }
    stand(false);
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 2, LONGEST);
  }
}

async function* messages(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let message = { type: "message", lines: [] };
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split(/\r?\n/);
    rest = lines.pop();
    for (const line of lines) {
      if (line !== "") {
        read(message, line);
      } else {
        if (message.lines.length > 0) yield { ...message, data: parse(message.lines.join("\n")) };
        message = { type: "message", lines: [] };
      }
    }
  }
}

function read(message, line) {
  const colon = line.indexOf(":");
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
  if (name === "event") message.type = value;
  if (name === "id") message.id = value;
  if (name === "data") message.lines.push(value);
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
