import { messageOf } from "./messages.ts";

/** A message as the gateway publishes or accepts it, under its base. */
export interface Example {
  /** The name of its schema. */
  readonly message: string | null;
  readonly topic: string;
  readonly payload: string;
}

const BEGIN = "<!-- scripts/mqtt-doc.mjs reads from here on. -->";
const END = "<!-- scripts/mqtt-doc.mjs reads up to here. -->";

/**
 * The examples of docs/scada.md, each a line with the topic and a line with the message. A test publishes
 * them.
 */
export function examplesOn(page: string): readonly Example[] {
  const text = page.slice(page.indexOf(BEGIN), page.indexOf(END));
  return Array.from(text.matchAll(/^ {4}(\S+)\n {4}(.+)$/gm), ([, topic = "", payload = ""]) => ({
    message: messageOf(topic),
    topic,
    payload,
  }));
}
