import { get, type IncomingMessage } from "node:http";
import type { StreamMessages } from "../../../src/northbound/web/api/stream.ts";
import { streamMessages } from "../../../src/northbound/web/api/stream.ts";
import { type Chronicle, createChronicle } from "../../support/chronicle.ts";

/** A message of the stream that its model has accepted. */
export type Message = {
  readonly [Name in keyof StreamMessages]: {
    readonly name: Name;
    readonly id: string | null;
    readonly body: StreamMessages[Name];
  };
}[keyof StreamMessages];

export interface StreamReader {
  readonly response: IncomingMessage;
  readonly messages: Chronicle<Message>;
  /** The bodies of one name, in order. */
  all<Name extends Message["name"]>(name: Name): readonly StreamMessages[Name][];
  /** The first that is of this name, from place `from` on. */
  next<Name extends Message["name"]>(name: Name, from?: number): Promise<StreamMessages[Name]>;
  readonly ended: Promise<void>;
  close(): void;
}

/** Reads `GET /api/v1/stream` until it is closed. Each message must be as its model says. */
export async function readStream(
  target: { readonly socketPath: string } | { readonly host: string; readonly port: number },
  headers: Readonly<Record<string, string>> = {},
  query = "",
): Promise<StreamReader> {
  const request = get({ ...target, path: `/api/v1/stream${query}`, headers, agent: false });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once("response", resolve).once("error", reject);
  });
  // Of a connection that the server breaks.
  request.on("error", () => {});
  response.on("error", () => {});
  const messages = createChronicle<Message>((message) => JSON.stringify(message));
  let rest = "";
  response.setEncoding("utf8").on("data", (text: string) => {
    const blocks = `${rest}${text}`.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) messages.add(messageOf(block));
  });
  const ended = new Promise<void>((resolve) => void response.once("close", resolve));
  return {
    response,
    messages,
    ended,
    all: (name) => bodiesOf(messages.entries, name),
    async next(name, from = 0) {
      await messages.first(`a message ${name}`, (message) => message.name === name, from);
      const [body] = bodiesOf(messages.entries.slice(from), name);
      if (body === undefined) throw new Error(`no message ${name}`);
      return body;
    },
    close: () => void request.destroy(),
  };
}

function bodiesOf<Name extends Message["name"]>(
  messages: readonly Message[],
  name: Name,
): readonly StreamMessages[Name][] {
  return messages.flatMap((message) => (message.name === name ? [message.body as StreamMessages[Name]] : []));
}

function messageOf(block: string): Message {
  const field = (key: string) =>
    block
      .split("\n")
      .find((line) => line.startsWith(`${key}: `))
      ?.slice(key.length + 2);
  const name = field("event") as Message["name"];
  const body: unknown = JSON.parse(field("data") ?? "null");
  streamMessages[name].parse(body);
  return { name, id: field("id") ?? null, body } as Message;
}
