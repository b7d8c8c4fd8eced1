import type { IPublishPacket, MqttClient } from "mqtt";
import { type Clock, sleep } from "../../platform/clock.ts";
import { isJsonObject, parsedJson } from "../../platform/json.ts";
import type { Log } from "../../platform/log.ts";
import { endClient, subscribe } from "./client/client.ts";
import type { Leadership, StatusPlace } from "./leadership.ts";
import { statusPayload } from "./status.ts";

export interface DuplicateParts {
  readonly sessionId: string;
  /** Aborted when the gateway is offline for its clients. */
  readonly stopping: AbortSignal;
  /** Absent or null: there is no cluster. */
  readonly leadership?: Leadership | null;
  readonly clock: Clock;
  readonly log: Log;
  /** This status was published. */
  readonly noteStatus: (payload: string) => void;
  /** Another gateway was found, or the last one has left. */
  readonly onDuplicate: (active: boolean, text: string) => void;
}

/**
 * Notices another gateway with the same id at the broker: it publishes `online` with a session id that is not
 * ours. Both would publish on the same topics.
 */
export interface DuplicateWatch {
  /**
   * Subscribes on a new connection. Call it before `online` is published there: the status retained before
   * counts too, and in a cluster it was looked at when this resolves.
   *
   * @param broker names the broker among several
   */
  serve(client: MqttClient, broker: string): Promise<void>;
  /** The problem as one sentence; null: there is no other gateway. */
  problem(): string | null;
  /** Resolves when the next connection may be opened. */
  turn(signal: AbortSignal): Promise<void>;
}

/** How many other sessions are remembered. */
const MOST_SESSIONS = 64;

/** @param topic the `status` topic of this gateway's id */
export function createDuplicateWatch(
  topic: string,
  gatewayId: string,
  parts: DuplicateParts,
): DuplicateWatch {
  const { sessionId, leadership = null, clock, log } = parts;
  const duplicates = new Set<string>();
  /** The brokers to which there was a connection. */
  const known = new Set<string>();
  let isReconnect = false;
  const none = `no other gateway with the id "${gatewayId}" is at this broker any more`;
  const notify = createDuplicateReport(problem, none, parts);
  const takeover = createTakeoverWatch(clock, notify);

  function problem(): string | null {
    const [first] = duplicates;
    if (first !== undefined)
      return `another gateway with the id "${gatewayId}" is at this broker (session ${first}): one of the two must have another gateway.id`;
    const other = takeover.otherSession();
    if (other === null) return null;
    const session = other === "" ? "" : ` (session ${other})`;
    return `another gateway with the id "${gatewayId}" and the same MQTT client id${session} connects in turn with this one: one of the two must have another gateway.id, and another client id`;
  }

  function add(session: string): boolean {
    if (duplicates.has(session) || duplicates.size >= MOST_SESSIONS) return false;
    duplicates.add(session);
    notify();
    return true;
  }

  function remove(session: string): void {
    if (duplicates.delete(session)) notify();
  }

  /**
   * A status of another session, by its place in the cluster. A later leader has the gateway's client id and
   * topics: this connection ends with a goodbye, so that the broker publishes no last will.
   */
  function compare(client: MqttClient, { place }: OtherStatus): ReturnType<Leadership["compare"]> {
    const found = leadership?.compare(place) ?? "foreign";
    if (found === "later" && place !== null) {
      leadership?.supersede(place);
      log.error({ ...place }, "another member of the cluster leads: this one leaves the broker");
      void endClient(client, clock);
    }
    return found;
  }

  /**
   * Publishes our status again over that of another session: the topic is retained, and the late last will of
   * our previous run would show us as offline. Each other session's `online` is answered once, or two
   * gateways would answer each other for ever.
   */
  function handle(client: MqttClient, text: string): void {
    const status = readStatus(text);
    if (status === null || status.sessionId === sessionId || parts.stopping.aborted) return;
    const found = compare(client, status);
    if (found === "later") return;
    if (status.state === "offline") remove(status.sessionId);
    else if (found === "foreign" && !add(status.sessionId)) return;
    if (leadership?.leads() === false) return;
    const owner = { gatewayId, sessionId, place: leadership?.place() ?? null };
    const payload = statusPayload("online", owner, clock.nowMs());
    parts.noteStatus(payload);
    client.publish(topic, payload, { qos: 1, retain: true });
  }

  /**
   * Reads the status retained before ours. A gateway with another client id answers our `online`, and is
   * noticed then.
   */
  function find(client: MqttClient, text: string): void {
    const status = readStatus(text);
    if (status === null || status.sessionId === sessionId) return;
    const isForeign = compare(client, status) === "foreign";
    // At the first connection to a broker it is the status of this gateway's previous run.
    if (isForeign && isReconnect && !duplicates.has(status.sessionId)) takeover.addSign(status.sessionId);
  }

  return {
    async serve(client, broker) {
      isReconnect = known.has(broker);
      known.add(broker);
      takeover.serve(client);
      client.on("message", (name: string, payload: Buffer, packet: IPublishPacket) => {
        if (name !== topic) return;
        const text = payload.toString("utf8");
        if (packet.retain) find(client, text);
        else handle(client, text);
      });
      const refused = await subscribe(client, [topic], { qos: 1 });
      if (refused.length > 0) {
        log.warn(
          { topic },
          "the broker does not let this gateway read its own status: a duplicate gateway goes unnoticed",
        );
      }
      // The answer to what is asked next comes after what is retained.
      if (leadership !== null) await client.unsubscribeAsync(`${topic}/none`);
    },
    problem,
    turn: takeover.turn,
  };
}

interface OtherStatus {
  readonly state: "online" | "offline";
  readonly sessionId: string;
  /** Null: it is of a gateway without a cluster. */
  readonly place: StatusPlace | null;
}

function readStatus(text: string): OtherStatus | null {
  const json = parsedJson(text);
  if (!isJsonObject(json) || typeof json.session_id !== "string") return null;
  const { state, session_id: sessionId, member, epoch } = json;
  const place = typeof member === "string" && typeof epoch === "number" ? { member, epoch } : null;
  return state === "online" || state === "offline" ? { state, sessionId, place } : null;
}

/** Logs and reports another gateway each time that one is found or the last one has left (`none`). */
export function createDuplicateReport(
  problem: () => string | null,
  none: string,
  { log, onDuplicate }: Pick<DuplicateParts, "log" | "onDuplicate">,
): () => void {
  let notified = false;
  return () => {
    const wrong = problem();
    const active = wrong !== null;
    if (active === notified) return;
    notified = active;
    const text = wrong ?? none;
    log.error({ active }, text);
    onDuplicate(active, text);
  };
}

/** This many signs in a row, without a lasting connection between them, are no accident. */
const SIGNS = 2;
/**
 * A connection of this length shows that no other gateway has our client id: two would disconnect each other
 * in seconds.
 */
const LASTING_MS = 60_000;
/** The waits if another gateway has the same client id. Each connection publishes the whole state. */
const FIRST_TURN_MS = 10_000;
/** With the wait of the link runner it is shorter than a lasting connection. */
const LONGEST_TURN_MS = 40_000;
/** MQTT 5, Disconnect: another client has connected with our client id. */
const SESSION_TAKEN_OVER = 0x8e;

/**
 * Notices another gateway with our MQTT client id, for example from a copied configuration. The broker keeps
 * only the newer connection, so the two are never connected at once.
 */
interface TakeoverWatch {
  /** A new connection. With MQTT 5 the broker says that another one has ended it. */
  serve(client: MqttClient): void;
  /** Something else says that there is another gateway: its session, "" if unknown. */
  addSign(session: string): void;
  /** The other gateway's session, "" if unknown; null when there is no other. */
  otherSession(): string | null;
  /**
   * Resolves when the next connection may be opened: the two end each other's connection as fast as they
   * connect, so each sign makes the wait longer.
   */
  turn(signal: AbortSignal): Promise<void>;
}

/** @param onChange another gateway was found, or is not there any more */
export function createTakeoverWatch(clock: Clock, onChange: () => void): TakeoverWatch {
  let signs = 0;
  let session = "";

  function addSign(of: string): void {
    signs += 1;
    if (of !== "") session = of;
    if (signs === SIGNS) onChange();
  }

  function clear(): void {
    const before = signs;
    signs = 0;
    session = "";
    if (before >= SIGNS) onChange();
  }

  return {
    serve(client) {
      const cancel = clock.after(LASTING_MS, clear);
      client.once("close", cancel);
      client.once("disconnect", ({ reasonCode }) => {
        if (reasonCode === SESSION_TAKEN_OVER) addSign("");
      });
    },
    addSign,
    otherSession: () => (signs >= SIGNS ? session : null),
    async turn(signal) {
      if (signs < SIGNS) return;
      await sleep(clock, Math.min(LONGEST_TURN_MS, FIRST_TURN_MS * 2 ** (signs - SIGNS)), signal);
    },
  };
}
