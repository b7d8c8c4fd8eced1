import { createHash } from "node:crypto";
import type { Permits } from "../../../contracts/stations.ts";
import type { Health } from "../../../platform/component.ts";
import { createDevice, type Device, type DeviceParts } from "./device.ts";
import { addGroup } from "./metric-group.ts";
import type { MetricModel, ReadMetric } from "./payload.ts";
import { robotModels } from "./robot-metrics.ts";
import { stationModels } from "./station.ts";

/** The gateway's own values, read when they are shown. */
export interface GatewayFacts extends Permits {
  readonly version: string;
  /** When the program was built, by which the clock is judged; null: not known. */
  readonly builtAt: Date | null;
  health(): Readonly<Record<string, Health>>;
  /** Whether the session to the fleet service is up. */
  fleetLinkUp(): boolean;
}

/** The edge node itself: the metrics of NBIRTH and NDATA. */
export interface NodeDevice {
  readonly device: Device;
  /** The number of the connection, which the last will has too. */
  setBdSeq(bdSeq: number): void;
  setRebirthsMerged(count: number): void;
  /** Whether a metric of a command is the request, by alias or name. */
  isRequest(metric: ReadMetric): boolean;
  /** The answer to a request: the next data have it. */
  setAnswer(text: string): void;
  /** An answer of more bytes, to a request of an earlier connection, is shown no more. */
  limitAnswer(bytes: number): void;
  /** Shows the link as it is now: call it about once a second. */
  lookAtLink(): void;
  /** Shows link and health as they are now. */
  lookAtHealth(): void;
}

const bdSeqMetric: MetricModel = { name: "bdSeq", type: "Int64" };
const rebirthMetric: MetricModel = { name: "Node Control/Rebirth", type: "Boolean" };

/** The name of the metric by which a host asks for births. */
export const REBIRTH = rebirthMetric.name;

const gatewayMetrics = {
  health: { name: "Gateway/Health", type: "String" },
} as const satisfies Record<string, MetricModel>;

const linkMetrics = {
  fleetLinkUp: { name: "Gateway/FleetLinkUp", type: "Boolean" },
} as const satisfies Record<string, MetricModel>;

const constantMetrics = {
  modelHash: { name: "Gateway/ModelHash", type: "String" },
  version: { name: "Gateway/Version", type: "String" },
} as const satisfies Record<string, MetricModel>;

const rebirthMetrics = {
  merged: { name: "Gateway/RebirthsMerged", type: "Int32" },
} as const satisfies Record<string, MetricModel>;

const requestMetric: MetricModel = { name: "Commands/Request", type: "String" };
const answerMetric: MetricModel = { name: "Commands/Answer", type: "String" };

const HASH_DIGITS = 16;
const states = ["up", "starting", "degraded", "down"] as const satisfies readonly Health["state"][];

export function createNodeDevice(facts: GatewayFacts, parts: DeviceParts): NodeDevice {
  const { clock } = parts;
  const device = createDevice("", parts);
  const bdSeq = device.add(bdSeqMetric, true);
  device.set(device.add(rebirthMetric, true), false, "good", clock.nowMs());
  const gateway = addGroup(device, gatewayMetrics);
  const link = addGroup(device, linkMetrics);
  const constants = addGroup(device, constantMetrics);
  const rebirths = addGroup(device, rebirthMetrics);
  const request = device.add(requestMetric);
  const answer = device.add(answerMetric);
  for (const metric of [request, answer]) device.set(metric, "", "good", clock.nowMs());
  const modelHash = hashOf([...robotModels, ...stationModels]);
  constants.show({ modelHash, version: facts.version }, "good", clock.nowMs());
  const setRebirthsMerged = (merged: number) => rebirths.show({ merged }, "good", clock.nowMs());
  setRebirthsMerged(0);
  const showLink = () => link.show({ fleetLinkUp: facts.fleetLinkUp() }, "good", clock.nowMs());

  return {
    device,
    setBdSeq: (value) => device.set(bdSeq, value, "good", clock.nowMs()),
    setRebirthsMerged,
    isRequest: ({ name, alias }) =>
      name === requestMetric.name || (alias !== null && alias === request.alias),
    setAnswer: (text) => device.publish(answer, text, clock.nowMs()),
    limitAnswer(bytes) {
      if (Buffer.byteLength(String(answer.value)) > bytes) device.set(answer, "", "good", clock.nowMs());
    },
    lookAtLink: showLink,
    lookAtHealth() {
      const found = Object.values(facts.health());
      const worst = states.findLast((state) => found.some((part) => part.state === state)) ?? "up";
      gateway.show({ health: worst }, "good", clock.nowMs());
      showLink();
    },
  };
}

/** Another one if the names or types of what robots and stations have change. */
function hashOf(models: readonly MetricModel[]): string {
  const facts = models.map(({ name, type }) => `${name} ${type}`).sort();
  return createHash("sha256").update(facts.join("\n")).digest("hex").slice(0, HASH_DIGITS);
}
