import type { IPublishPacket, MqttClient } from "mqtt";
import type { Clock } from "../../platform/clock.ts";
import { isJsonObject } from "../../platform/json.ts";
import type { Log } from "../../platform/log.ts";
import { createRivalWatch } from "./rival.ts";
import { statusPayload } from "./status.ts";

/** What the look-out for another gateway needs. */
export interface TwinParts {
  /** The `status` topic of this gateway's id. */
  readonly topic: string;
  readonly gatewayId: string;
  readonly sessionId: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Another one has come, or the last of them has gone. */
  readonly onTwin: (active: boolean, text: string) => void;
}

/**
 * Notices another gateway with the same id at the broker: it says `online` in a
 * session that is not ours. Both would speak under the same topics.
 */
export interface TwinWatch {
  /** Listens on a new connection. To be called before our own `online` is published there: what stood there before tells too. */
  serve(client: MqttClient): Promise<void>;
  /** What is wrong, as one sentence; null when we are alone. */
  problem(): string | null;
}

/** Enough to tell; a broker where more of them come and go has another problem. */
const MOST_SESSIONS = 64;

export function createTwinWatch(parts: TwinParts): TwinWatch {
  const { topic, gatewayId, sessionId, clock, log } = parts;
  const twins = new Set<string>();
  let told = false;
  const rivals = createRivalWatch(clock, tell);

  function problem(): string | null {
    const [first] = twins;
    if (first !== undefined)
      return `another gateway with the id "${gatewayId}" is at this broker (session ${first}): one of the two must have another gateway.id`;
    const rival = rivals.rival();
    if (rival === null) return null;
    const who = rival === "" ? "" : ` (session ${rival})`;
    return `another gateway with the id "${gatewayId}" and the same MQTT client id${who} throws this one off the broker, and this one it: one of the two must have another gateway.id, and another client id`;
  }

  function tell(): void {
    const wrong = problem();
    const active = wrong !== null;
    if (active === told) return;
    told = active;
    const text = wrong ?? `no other gateway with the id "${gatewayId}" is at this broker any more`;
    log.error({ active }, text);
    parts.onTwin(active, text);
  }

  function come(session: string): boolean {
    if (twins.has(session) || twins.size >= MOST_SESSIONS) return false;
    twins.add(session);
    tell();
    return true;
  }

  function go(session: string): void {
    if (twins.delete(session)) tell();
  }

  /**
   * The topic is retained, so what another session says there hides ours. A late last
   * will of our predecessor's would show us as offline. Answered once to each `online`:
   * two gateways that answered each other always would never end.
   */
  function hear(client: MqttClient, text: string): void {
    const status = readStatus(text);
    if (status === null || status.sessionId === sessionId) return;
    if (status.state === "offline") go(status.sessionId);
    else if (!come(status.sessionId)) return;
    const payload = statusPayload("online", gatewayId, sessionId, clock.nowMs());
    client.publish(topic, payload, { qos: 1, retain: true });
  }

  /** What stood there before us. A twin with another client id answers our own `online`, and is heard then. */
  function find(text: string): void {
    const other = readStatus(text)?.sessionId ?? sessionId;
    if (other !== sessionId && !twins.has(other)) rivals.foundOther(other);
  }

  return {
    async serve(client) {
      rivals.serve(client);
      client.on("message", (name: string, payload: Buffer, packet: IPublishPacket) => {
        if (name !== topic) return;
        const text = payload.toString("utf8");
        if (packet.retain) find(text);
        else hear(client, text);
      });
      const granted = await client.subscribeAsync(topic, { qos: 1 });
      if (granted.some(({ qos }) => qos === 128)) {
        log.warn(
          { topic },
          "the broker does not let this gateway read its own status: a second one goes unnoticed",
        );
      }
    },
    problem,
  };
}

function readStatus(
  text: string,
): { readonly state: "online" | "offline"; readonly sessionId: string } | null {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    // Whoever may write there, this is no gateway's status.
    if (error instanceof SyntaxError) return null;
    throw error;
  }
  if (!isJsonObject(json) || typeof json.session_id !== "string") return null;
  const { state } = json;
  return state === "online" || state === "offline" ? { state, sessionId: json.session_id } : null;
}
