import { type OPCUAServer, ServiceFault } from "node-opcua";
import { BoundedMap } from "../../../platform/bounded-map.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";
import { createLineBudget } from "../../../platform/log-bounds.ts";
import { errorFrame } from "./frame-check.ts";
import { type Answering, onAnswers } from "./lower.ts";

/**
 * Clients that were refused for lack of room: counted, logged once a minute each, and reported to the health.
 */
export interface ClientRefusals {
  refuse(client: string, text: string): void;
  readonly count: number;
  /** The last refusal, for a minute; null: none. */
  problem(): string | null;
}

const TOLD_FOR_MS = 60_000;

export function createClientRefusals(clock: Clock, log: Log): ClientRefusals {
  const loggedAtMs = new Map<string, number>();
  let count = 0;
  let last: { readonly atMs: number; readonly text: string } | null = null;
  return {
    refuse(client, text) {
      count += 1;
      const nowMs = clock.monotonicMs();
      last = { atMs: nowMs, text };
      if (nowMs - (loggedAtMs.get(client) ?? Number.NEGATIVE_INFINITY) < TOLD_FOR_MS) return;
      loggedAtMs.set(client, nowMs);
      log.warn({ reason: text }, "an OPC UA client was refused for want of room");
    },
    get count() {
      return count;
    },
    problem: () => (last !== null && clock.monotonicMs() - last.atMs < TOLD_FOR_MS ? last.text : null),
  };
}

/** The parts of node-opcua's channel that a refusal needs. */
interface Channel extends Answering {
  write(frame: Buffer): void;
}

/**
 * Answers a client whose secure channel is refused with an Error message (OPC UA part 6, 6.7.6 and 7.1.2.5).
 * node-opcua 2.182 sends a secured OPN with a ServiceFault instead of the response, on which clients fail
 * that decode every OPN as an OpenSecureChannelResponse (asyncua, open62541). If it cannot secure one, it
 * sends a ServiceFault in a frame of type ERR, which is no Error message. For an initialised server that does
 * not listen yet.
 */
export function refuseWithErrorMessages(server: OPCUAServer): void {
  onAnswers<Channel>(server, (send, channel) => (type, response, message, done) => {
    if ((type !== "OPN" && type !== "ERR") || !(response instanceof ServiceFault)) {
      send(type, response, message, done);
      return;
    }
    const { serviceResult } = response.responseHeader;
    channel.write(errorFrame(serviceResult.value, serviceResult.name));
    done?.();
  });
}

/** Counts clients that were refused for one reason, and logs each once, within bounds. */
export interface RefusalLog {
  readonly count: number;
  /** @param key distinguishes this client from others */
  note(key: string, fields: Readonly<Record<string, unknown>>): void;
}

const MOST_REMEMBERED = 500;
const lineBounds = { most: 10, windowMs: 60_000 };

/** @param more the line with the number of clients that were not named */
export function createRefusalLog(clock: Clock, log: Log, more: string): RefusalLog {
  const logged = new BoundedMap<string, true>(MOST_REMEMBERED);
  const lines = createLineBudget(clock, lineBounds, (left) => log.warn({ count: left }, more));
  let count = 0;
  return {
    get count() {
      return count;
    },
    note(key, fields) {
      count += 1;
      if (logged.has(key) || !lines.take()) return;
      logged.set(key, true);
      log.warn(fields, "an OPC UA client was refused");
    },
  };
}
