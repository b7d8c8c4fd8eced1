import type { ServerResponse } from "node:http";
import type { Peer } from "../../../contracts/peers.ts";
import type { RobotId } from "../../../domain/robot.ts";

/** The user of a stream, and its listener. */
export interface WhoseStream {
  readonly part: string;
  readonly peer: Peer;
}

/** A reader of the stream. */
export interface StreamClient {
  readonly response: ServerResponse;
  /** Identifies its browser if the bound for browsers applies; null: it does not. */
  readonly browser: string | null;
  readonly whose: WhoseStream;
  /** Robots that the snapshot has not brought yet. */
  readonly left: Set<RobotId>;
  /** Whether it has the whole snapshot, and gets changes of robots as they come. */
  isCurrent: boolean;
  /** The number of the next event for it. */
  nextEvent: number;
  isPumping: boolean;
}

/** A message of the stream: a server-sent event. JSON has no line breaks. */
export function messageText(name: string, body: object, id?: string): string {
  return eventText(name, JSON.stringify(body), id);
}

/** The same with a body that is JSON already. */
export function eventText(name: string, json: string, id?: string): string {
  return `event: ${name}\n${id === undefined ? "" : `id: ${id}\n`}data: ${json}\n\n`;
}
