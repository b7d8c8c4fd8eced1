/** One server-sent event. */
export interface ServerSentEvent {
  /** The last `id` of the stream so far; empty: none yet. */
  readonly id: string;
  readonly name: string;
  readonly data: string;
}

/** A larger message is not the gateway's. */
const LONGEST_MESSAGE = 64 * 1024 * 1024;

/**
 * Reads the text of an event stream, in pieces as they come (HTML, Server-sent events). It is no
 * `EventSource` (docs/decisions.md, The stream is read by `fetch`).
 */
export function createEventReader(onEvent: (event: ServerSentEvent) => void): (piece: string) => void {
  let rest = "";
  let [id, name] = ["", ""];
  let data: string[] = [];

  function line(text: string): void {
    if (text === "") {
      end();
      return;
    }
    const at = text.indexOf(":");
    const field = at < 0 ? text : text.slice(0, at);
    const value = at < 0 ? "" : text.slice(at + 1).replace(/^ /, "");
    if (field === "data") data.push(value);
    if (field === "event") name = value;
    if (field === "id") id = value;
  }

  function end(): void {
    if (data.length > 0) onEvent({ id, name: name === "" ? "message" : name, data: data.join("\n") });
    name = "";
    data = [];
  }

  return (piece) => {
    rest += piece;
    if (rest.length > LONGEST_MESSAGE) throw new Error("a message of the stream has no end");
    // A piece may end between the two characters of a line end.
    const whole = rest.endsWith("\r") ? rest.slice(0, -1) : rest;
    const lines = whole.split(/\r\n|\n|\r/);
    rest = (lines.pop() ?? "") + rest.slice(whole.length);
    for (const text of lines) line(text);
  };
}
