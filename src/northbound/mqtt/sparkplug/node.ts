import { createHash } from "node:crypto";
import type { Permits } from "../../../contracts/stations.ts";
import type { Health } from "../../../platform/component.ts";
import { createDevice, type Device, type DeviceParts } from "./device.ts";
import { addGroup } from "./metric-group.ts";
import { isOfType, type MetricModel, MOST_METRICS, type ReadMetric, readPayload } from "./payload.ts";
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
const REBIRTH = rebirthMetric.name;

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

/** What a host writes at the node with one message. */
interface HostWrites {
  /** How often it asks for births. */
  readonly rebirths: number;
  /** The texts for `Commands/Request`, in their order. */
  readonly requests: readonly string[];
}

/** The result of reading a message. */
type ReadHostWrites =
  | { readonly ok: true; readonly writes: HostWrites }
  | { readonly ok: false; readonly reason: string };

/** Why a message is ignored that writes another metric. */
export const NO_OTHER = `hosts write ${REBIRTH} and Commands/Request of the node, and no other metric`;

/** Reads a message as a whole: with one metric that hosts may not write so, nothing of it is taken. */
export function readHostWrites(payload: Uint8Array, node: Pick<NodeDevice, "isRequest">): ReadHostWrites {
  const metrics = readPayload(payload);
  if (metrics === null) return ignored(`the message has ${payload.length} bytes that cannot be read`);
  if (metrics.length === 0) return ignored("the message has no metric");
  if (metrics.length > MOST_METRICS) return ignored(`the message has more than ${MOST_METRICS} metrics`);
  const requests: string[] = [];
  let rebirths = 0;
  for (const metric of metrics) {
    const isRebirth = metric.name === REBIRTH;
    if (!isRebirth && !node.isRequest(metric)) return ignored(NO_OTHER);
    const fault = faultOf(metric, isRebirth);
    if (fault !== null) return ignored(`${isRebirth ? REBIRTH : "Commands/Request"}: ${fault}`);
    if (isRebirth) rebirths += Number(metric.value);
    else requests.push(String(metric.value));
  }
  return { ok: true, writes: { rebirths, requests } };
}

function ignored(reason: string): ReadHostWrites {
  return { ok: false, reason };
}

function faultOf(metric: ReadMetric, isRebirth: boolean): string | null {
  if (metric.isHistorical) return "is_historical must not be set: nobody knows when it was written";
  const isGood = isRebirth
    ? typeof metric.value === "boolean" && isOfType(metric, "Boolean")
    : typeof metric.value === "string" && isOfType(metric, "String");
  return isGood ? null : `must be a ${isRebirth ? "Boolean" : "String"}, and not null`;
}
