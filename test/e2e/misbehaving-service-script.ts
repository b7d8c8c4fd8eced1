import { create, toBinary } from "@bufbuild/protobuf";
import { methods } from "../../src/fleet/operations/row.ts";
import { pick } from "../../src/simulator/world/random.ts";
import { OnlineAMRInfoSchema } from "../../src/wire/fleet/http/v1/task_pb.js";
import {
  FleetService,
  ListWebhooksResponseSchema,
  SubscribeBatteryStatusResponseSchema,
  SubscribeConveyorStatusResponseSchema,
  SubscribeMissionStatusResponseSchema,
} from "../../src/wire/fleet/v1/service_pb.js";
import { WebhookSubscriptionSchema } from "../../src/wire/fleet/v1/webhook_pb.js";
import type { Script, ScriptedService, TokenAnswer } from "../support/scripted-service.ts";
import type { WorstDeliveries } from "../support/worst-delivery.ts";
import { type Worst, worstJson, worstMessage } from "../support/worst-message.ts";

const STREAMS = {
  SubscribeMissionStatus: SubscribeMissionStatusResponseSchema,
  SubscribeBatteryStatus: SubscribeBatteryStatusResponseSchema,
  SubscribeConveyorStatus: SubscribeConveyorStatusResponseSchema,
} as const;
const streamNames = ["SubscribeMissionStatus", "SubscribeBatteryStatus", "SubscribeConveyorStatus"] as const;

type Ending = readonly [grpcStatus: string, grpcMessage: string];
const endings: readonly [Ending, ...Ending[]] = [
  ["0", ""],
  ["13", "x".repeat(5_000)],
  ["14", "%00%ff%"],
  ["16", "the token is refused"],
  ["99", "no code"],
  ["-1", ""],
  ["", ""],
  ["7", "denied"],
];
const statuses: readonly [number, ...number[]] = [200, 200, 200, 200, 200, 200, 401, 404, 500, 503];

/** The subscriptions of the gateway that runs; null: it is for streams alone. */
export interface OwnSubscriptions {
  readonly description: string;
  readonly url: string;
}

export interface ScriptParts {
  readonly worst: Worst;
  readonly good: GoodRobot;
  /** What ListWebhooks shows at times; null: nothing that the gateway would know. */
  readonly subscriptions: () => OwnSubscriptions | null;
  readonly token?: () => TokenAnswer;
}

/** A script that gives another answer to each call, of which every field may be at its worst. */
export function misbehavingScript({ worst, good, subscriptions, token }: ScriptParts): Script {
  const unary = Object.fromEntries(
    FleetService.methods
      .filter(({ methodKind }) => methodKind === "unary")
      .map(({ name, output }) => [name, () => worstMessage(output, worst)]),
  );
  const outputs = new Map(
    [...methods.values()].map(({ route, desc }) => [route.path.split("{")[0], desc.output]),
  );
  const own = () => {
    const found = worst.random() < 0.7 ? subscriptions() : null;
    return found === null ? worstMessage(ListWebhooksResponseSchema, worst) : listed(found);
  };
  return {
    streams: {
      SubscribeMissionStatus: () => [worstMessage(STREAMS.SubscribeMissionStatus, worst)],
      SubscribeConveyorStatus: () => [worstMessage(STREAMS.SubscribeConveyorStatus, worst)],
      // Who subscribes anew hears of the good robot: nothing need be sent again.
      SubscribeBatteryStatus: () => [good.message()],
    },
    unary: { ...unary, ListWebhooks: own },
    // The online list has the good robot, or is none: one that lacked it would rightly make it absent.
    http: { "/amr/onlineAmr": () => onlineList(worst) },
    anyHttp(path) {
      const output = [...outputs].find(([start]) => start !== undefined && path.startsWith(start))?.[1];
      const status = pick(worst.random, statuses);
      return { status, text: output === undefined ? "" : worstJson(output, worst) };
    },
    ...(token === undefined ? {} : { token }),
  };
}

function listed({ description, url }: OwnSubscriptions): Uint8Array {
  const webhooks = ["mission", "battery"].map((eventType) =>
    create(WebhookSubscriptionSchema, {
      id: `own-${eventType}`,
      description,
      url,
      eventType,
      enabled: true,
      selector: { selector: { case: "locationIds", value: { ids: ["site"] } } },
    }),
  );
  return toBinary(ListWebhooksResponseSchema, create(ListWebhooksResponseSchema, { webhooks }));
}

function onlineList(worst: Worst): string {
  if (worst.random() < 0.3)
    return pick(worst.random, ["", "null", "[]", '{"robots":{}}', '{"robots":[', '{"robots":[{},]}']);
  const count = worst.random() < 0.98 ? Math.floor(worst.random() * 20) : 2_000;
  const others = Array.from({ length: count }, () => worstJson(OnlineAMRInfoSchema, worst, "whole"));
  return `{"robots":[${['{"id":"4711","name":"good","mapId":1}', ...others].join(",")}]}`;
}

/** The robot that everything must stay right for: each charge is another, with its own number and time. */
export interface GoodRobot {
  /** The charge now. */
  charge(): number;
  /** Goes on to the next charge, and returns it. */
  next(): number;
  /** The charge as a message of the battery stream. */
  message(): Uint8Array;
  /** The same as the body of a delivery. */
  body(): string;
}

export function createGoodRobot(): GoodRobot {
  let charge = 1;
  const atSeconds = () => 1_700_000_000 + charge;
  return {
    charge: () => charge,
    next() {
      charge += 1;
      return charge;
    },
    message() {
      const fields = {
        metadata: { timestamp: { seconds: BigInt(atSeconds()) }, sequenceNumber: BigInt(charge) },
        robotId: "good",
        batteryState: { chargePercent: charge, state: 2 },
      };
      return toBinary(
        SubscribeBatteryStatusResponseSchema,
        create(SubscribeBatteryStatusResponseSchema, fields),
      );
    },
    body() {
      const timestamp = new Date(atSeconds() * 1_000).toISOString();
      const metadata = { timestamp, sequence_number: String(charge) };
      const batteryState = { charge_percent: charge, state: "STATE_DISCHARGING" };
      return JSON.stringify({ robot_id: "good", state: { metadata, battery_state: batteryState } });
    },
  };
}

/** Does the next bad thing: a message, a delivery, or the end of streams. */
export function misbehave(service: ScriptedService, deliveries: WorstDeliveries, worst: Worst): void {
  const { random } = worst;
  const kind = random();
  const method = pick(random, streamNames);
  if (kind < 0.001) service.end(method, ...pick(random, endings));
  else if (kind < 0.2) deliveries.bad();
  else service.push(method, worstMessage(STREAMS[method], worst));
}
