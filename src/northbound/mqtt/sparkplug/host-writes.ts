import { type NodeDevice, REBIRTH } from "./node.ts";
import { isOfType, MOST_METRICS, type ReadMetric, readPayload } from "./payload.ts";

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
