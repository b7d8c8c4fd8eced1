import { type Metric, readValue, type Value } from "./payload.ts";
import { bdSeqOf } from "./state.ts";
import type { Message } from "./wire.ts";

/** A metric as a host shows it. */
export interface Shown {
  /** Null: there is none. */
  readonly value: Value | null;
  /** The code of its property Quality; null: it has none, which is good. */
  readonly quality: number | null;
  readonly atMs: number;
}

/** What a host knows of one edge node by its births and data alone. */
export interface ForeignHost {
  receive(message: Message): void;
  /** Whether node (null) or device is born and not dead. */
  isAlive(device: string | null): boolean;
  /** Metrics by name, as births and data have said them last; those of a dead device stay. */
  values(device: string | null): ReadonlyMap<string, Shown>;
  devices(): readonly string[];
  /** Why a host would ask for births: numbers that are missing, aliases that no birth has. */
  readonly gaps: readonly string[];
}

interface Known {
  isAlive: boolean;
  readonly shown: Map<string, Shown>;
  readonly byAlias: Map<number, { readonly name: string; readonly datatype: number | null }>;
}

export function createForeignHost(groupId: string, nodeId: string): ForeignHost {
  const known = new Map<string | null, Known>();
  const gaps: string[] = [];
  let bdSeq: number | null = null;
  let seq: number | null = null;

  function follow({ type, payload }: Message): void {
    const next = payload?.seq ?? null;
    if (type !== "NBIRTH" && seq !== null && next !== (seq + 1) % 256)
      gaps.push(`${type}: ${next} after ${seq}`);
    seq = next;
  }

  function bear({ device }: Message, metrics: readonly Metric[]): void {
    const one: Known = { isAlive: true, shown: new Map(), byAlias: new Map() };
    for (const metric of metrics) {
      const { name, alias, datatype } = metric;
      if (name === null) continue;
      one.shown.set(name, shownOf(metric, datatype));
      if (alias !== null) one.byAlias.set(alias, { name, datatype });
    }
    known.set(device, one);
  }

  function change({ device, topic }: Message, metrics: readonly Metric[]): void {
    const one = known.get(device);
    for (const metric of metrics) {
      const defined = metric.alias === null ? undefined : one?.byAlias.get(metric.alias);
      const name = metric.name ?? defined?.name;
      if (one === undefined || !one.isAlive || name === undefined || !one.shown.has(name))
        gaps.push(`${topic}: no birth has ${metric.name ?? metric.alias}`);
      else if (!metric.isHistorical)
        one.shown.set(name, shownOf(metric, defined?.datatype ?? metric.datatype));
    }
  }

  function die(devices: Iterable<string | null>): void {
    for (const device of devices) {
      const one = known.get(device);
      if (one !== undefined) one.isAlive = false;
    }
  }

  return {
    receive(message) {
      const { levels, type, device, payload } = message;
      if (payload === null || levels[1] !== groupId || levels[3] !== nodeId || type.endsWith("CMD")) return;
      if (type === "NDEATH") {
        // The death of an earlier session says nothing of this one.
        if (bdSeqOf(payload) === bdSeq) die(known.keys());
        return;
      }
      follow(message);
      if (type === "NBIRTH") {
        die(known.keys());
        bdSeq = bdSeqOf(payload);
      }
      if (type.endsWith("BIRTH")) bear(message, payload.metrics);
      else if (type === "DDEATH") die([device]);
      else change(message, payload.metrics);
    },
    isAlive: (device) => known.get(device)?.isAlive ?? false,
    values: (device) => known.get(device)?.shown ?? new Map(),
    devices: () => [...known.keys()].filter((device) => device !== null),
    gaps,
  };
}

function shownOf({ isNull, value, properties, atMs }: Metric, datatype: number | null): Shown {
  const quality = properties?.values[properties.keys.indexOf("Quality")]?.value;
  return {
    value: isNull ? null : readValue(value, datatype),
    quality: typeof quality === "number" ? quality : null,
    atMs: atMs ?? 0,
  };
}
