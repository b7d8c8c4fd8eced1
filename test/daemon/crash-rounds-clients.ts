import type { TestRobot } from "../contract/contract-harness.ts";
import type { MqttEar } from "../e2e/mqtt-ear.ts";
import type { Asked, Ended, Told } from "./crash-rounds-story.ts";

/** Those that send commands, by MQTT and by HTTP. */
export interface RoundClients {
  /**
   * Sends a command, and resolves when it is told. "again": the connection has ended, and nothing is known.
   * Rejects when no reply comes in time.
   */
  ask(asked: Asked, life: number): Promise<"told" | "again">;
  /** Takes what came by MQTT since the last time as told by this life, however late it came. */
  collect(sent: readonly Asked[], life: number): void;
}

/** A reply that does not come within it is a violation: more than the expiry and the search for evidence. */
export const REPLY_MS = 30_000;
const EXPIRES_IN_MS = 10_000;
/** So much of the new commands are stops. */
const STOPS = 0.1;

const replyTopic = (id: string) => `clients/scada/reply/${id}`;

export function createRoundClients(ear: MqttEar, url: string): RoundClients {
  let place = 0;

  async function askMqtt({ id, operation, request }: Asked): Promise<"told"> {
    const from = ear.received.entries.length;
    await ear.sendText(operation, JSON.stringify({ id, expires_in_ms: EXPIRES_IN_MS, request }));
    await ear.on(replyTopic(id), () => true, from);
    return "told";
  }

  async function askWeb({ id, operation, request, told }: Asked, life: number): Promise<"told" | "again"> {
    const response = await fetch(`${url}/api/v1/commands/${id}`, {
      method: "PUT",
      headers: { "content-type": "application/json", prefer: `wait=${REPLY_MS / 1_000}` },
      body: JSON.stringify({ operation, request, expires_in_ms: EXPIRES_IN_MS }),
      signal: AbortSignal.timeout(REPLY_MS),
    }).catch((cause: unknown) => {
      if (cause instanceof DOMException) throw cause;
      return null;
    });
    const body = await response?.json().catch(() => null);
    if (response === null || body === null || response.status === 202) return "again";
    // A request that never became a command is answered with a problem.
    const { outcome, code, message, detail = "" } = body as Told & { readonly detail?: string };
    told.push({ life, outcome, code, message: message ?? detail });
    return "told";
  }

  return {
    ask: (asked, life) => (asked.protocol === "mqtt" ? askMqtt(asked) : askWeb(asked, life)),
    collect(sent, life) {
      const byTopic = new Map(sent.map((asked) => [replyTopic(asked.id), asked]));
      for (const { topic, text } of ear.received.entries.slice(place))
        byTopic.get(topic)?.told.push({ ...(JSON.parse(text) as Told), life });
      place = ear.received.entries.length;
    },
  };
}

/** The ends of commands that the broker was given events of, by request id. */
export function endedIn(ear: MqttEar): ReadonlyMap<string, readonly Ended[]> {
  const byId = new Map<string, Ended[]>();
  for (const { topic, text } of ear.received.entries) {
    if (!topic.endsWith("event/command")) continue;
    const { event_id: eventId, to: outcome, code, message, command, found_later: later } = JSON.parse(text);
    if (later !== undefined) continue;
    const ended = { eventId, outcome, code, message };
    byId.set(command.request_id, [...(byId.get(command.request_id) ?? []), ended]);
  }
  return byId;
}

/** Each can be known again in the service's record, by its heading or by the mission that it names. */
export function newCommand(number: number, { id: robotId }: TestRobot, random: () => number): Asked {
  const id = `c${number}`;
  const protocol = random() < 0.5 ? "mqtt" : "web";
  if (random() < STOPS) {
    const request = { robotId, missionCommand: { missionId: id, command: "COMMAND_CANCEL" } };
    return { id, protocol, operation: "UpdateMission", request, token: id, isStop: true, told: [] };
  }
  const headingRadians = number / 1_024;
  const goal = { pose: { xMeters: 3, yMeters: 0, headingRadians } };
  const request = { robotId, mission: { baseMission: { navigateMission: { goal } } } };
  const operation = random() < 0.5 ? "CreateMission" : "AppendMission";
  return { id, protocol, operation, request, token: headingRadians, isStop: false, told: [] };
}

interface Goal {
  readonly pose?: { readonly headingRadians?: number };
}

/** What only one command's request holds; null: it is none of `newCommand`. */
export function tokenOf(request: unknown): string | number | null {
  const { mission, missionCommand } = request as {
    readonly mission?: { readonly baseMission?: { readonly navigateMission?: { readonly goal?: Goal } } };
    readonly missionCommand?: { readonly missionId: string };
  };
  return (
    missionCommand?.missionId ?? mission?.baseMission?.navigateMission?.goal?.pose?.headingRadians ?? null
  );
}
