import type { OutgoingHttpHeaders } from "node:http";
import { Agent, request } from "node:https";
import { type DescMessage, fromBinary, toJson } from "@bufbuild/protobuf";
import { pick } from "../../src/simulator/world/random.ts";
import { BatteryEventStateSchema } from "../../src/wire/fleet/v1/battery_pb.js";
import { MissionEventStateSchema } from "../../src/wire/fleet/v1/mission_pb.js";
import { type Worst, worstJson, worstMessage, worstName } from "./worst-message.ts";

/** Where deliveries go. */
export interface DeliveryTarget {
  readonly port: number;
  /** PEM. */
  readonly ca: string;
  readonly secret: string;
}

/** A service's webhook deliveries, good and bad. */
export interface WorstDeliveries {
  /** Delivers an event as it should be. Rejects unless the gateway takes it. */
  good(body: string): Promise<void>;
  /** Makes the next bad delivery, unless many are under way already. */
  bad(): void;
  /** How many bad ones ended so far, by the status of the answer; 0: the connection ended without one. */
  endings(): Readonly<Record<number, number>>;
  close(): void;
}

interface Delivery {
  readonly method: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
  /** Breaks off here instead of ending. */
  readonly isCut: boolean;
}

const SECRET = "x-fleetgate-secret";
const EVENT_ID = "x-service-webhook-event-id";
const MOST_UNDER_WAY = 8;
const LARGEST_BODY_BYTES = 1_000_000;

export function openWorstDeliveries({ port, ca, secret }: DeliveryTarget, worst: Worst): WorstDeliveries {
  const { random } = worst;
  // One for each: a bad delivery that holds its connection must not hold up a good one.
  const goodAgent = new Agent({ keepAlive: true, ca });
  const badAgent = new Agent({ keepAlive: true, maxSockets: MOST_UNDER_WAY, ca });
  const endings: Record<number, number> = {};
  let underWay = 0;
  let events = 0;

  /** Resolves with the status of the answer; 0 when there is none. */
  function send(agent: Agent, { method, headers, body, isCut }: Delivery): Promise<number> {
    return new Promise((resolve) => {
      const call = request({ agent, host: "localhost", port, path: "/hook", method, headers }, (answer) => {
        answer.resume();
        answer.once("close", () => resolve(answer.statusCode ?? 0));
      });
      // A refusal closes the connection, also while the body is still on its way.
      call.on("error", () => resolve(0));
      if (!isCut) call.end(body);
      else call.write(body, () => call.destroy());
    });
  }

  function eventId(): string {
    events += 1;
    return `event-${events}`;
  }

  function nextBad(): Delivery {
    const fits = { [SECRET]: secret, [EVENT_ID]: random() < 0.9 ? eventId() : "event-1" };
    const body = worstBody(worst);
    const kind = random();
    if (kind < 0.7) return { method: "POST", headers: fits, body, isCut: false };
    if (kind < 0.75) return { method: "POST", headers: fits, body, isCut: true };
    const method = kind < 0.78 ? pick(random, ["GET", "PUT", "DELETE", "OPTIONS"]) : "POST";
    return { method, headers: pick(random, oddHeaders(secret, eventId())), body, isCut: false };
  }

  return {
    async good(body) {
      const headers = { [SECRET]: secret, [EVENT_ID]: eventId() };
      const status = await send(goodAgent, { method: "POST", headers, body, isCut: false });
      if (status !== 204) throw new Error(`a delivery as it should be was answered ${status}`);
    },
    bad() {
      if (underWay >= MOST_UNDER_WAY) return;
      underWay += 1;
      void send(badAgent, nextBad()).then((status) => {
        underWay -= 1;
        endings[status] = (endings[status] ?? 0) + 1;
      });
    },
    endings: () => ({ ...endings }),
    close() {
      goodAgent.destroy();
      badAgent.destroy();
    },
  };
}

function oddHeaders(secret: string, eventId: string): [OutgoingHttpHeaders, ...OutgoingHttpHeaders[]] {
  return [
    {},
    { [EVENT_ID]: eventId },
    { [SECRET]: "", [EVENT_ID]: eventId },
    { [SECRET]: `${secret}x`, [EVENT_ID]: eventId },
    { [SECRET]: secret.slice(1), [EVENT_ID]: eventId },
    { [SECRET]: [secret, secret], [EVENT_ID]: eventId },
    { [SECRET]: "x".repeat(10_000), [EVENT_ID]: eventId },
    { [SECRET]: secret },
    { [SECRET]: secret, [EVENT_ID]: "" },
    { [SECRET]: secret, [EVENT_ID]: "e".repeat(257) },
    { [SECRET]: secret, [EVENT_ID]: "__proto__" },
    { [SECRET]: secret, [EVENT_ID]: "\u00ff\u0080" },
    { [SECRET]: secret, [EVENT_ID]: eventId, "content-length": "10" },
    { [SECRET]: secret, [EVENT_ID]: eventId, "content-encoding": "gzip" },
  ];
}

/** A state of which every value can be read, and may be at its worst; null when chance made none. */
function readableState(schema: DescMessage, worst: Worst): string | null {
  try {
    const message = fromBinary(schema, worstMessage(schema, worst));
    return JSON.stringify(toJson(schema, message, { useProtoFieldName: true, alwaysEmitImplicit: true }));
  } catch {
    // It was cut off, or has a time that no text can say.
    return null;
  }
}

/** An event of which every field may be at its worst. It may be no event, and no JSON. */
function worstBody(worst: Worst): string {
  const { random } = worst;
  const kind = random();
  if (kind < 0.05) return pick(random, ["", "null", "[]", "7", '"', "{", "\u0000", "[".repeat(100_000)]);
  if (kind < 0.06) return " ".repeat(LARGEST_BODY_BYTES + 1);
  if (kind < 0.07) return `{"robot_id":"${"x".repeat(LARGEST_BODY_BYTES - 100)}","state":{"missions":[]}}`;
  const schema = random() < 0.5 ? MissionEventStateSchema : BatteryEventStateSchema;
  const state = (random() < 0.7 ? readableState(schema, worst) : null) ?? worstJson(schema, worst, "whole");
  const odd = pick(random, [state, "null", "[]", "7", "{}", '{"missions":null}', '{"battery_state":null}']);
  const robotId = random() < 0.9 ? JSON.stringify(worstName(worst)) : pick(random, ["null", "7", "{}", "[]"]);
  const text = `{"robot_id":${robotId},"state":${random() < 0.85 ? state : odd},"__proto__":{"state":1}}`;
  return random() < 0.95 ? text : text.slice(0, Math.floor(random() * text.length));
}
