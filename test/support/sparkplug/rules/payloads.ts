import type { Metric, Property } from "../payload.ts";
import { definitionOf, REBIRTH } from "../state.ts";
import { isMetricType, isPropertyType } from "./metrics.ts";
import {
  BIRTHS,
  type Check,
  COUNTED,
  DATA,
  hasSeq,
  hasTimestamp,
  metrics,
  notRetained,
  onlyOf,
  published,
  qosZero,
  type Rule,
  type Said,
  seqFollows,
  unless,
} from "./rule.ts";

const WITH_METRICS = [...BIRTHS, ...DATA];
/** No time zone is nearer to UTC than a quarter of an hour. */
const CLOCK_MS = 600_000;
/** The node names these in messages that have no alias: NDEATH and NCMD. */
const byName: readonly (string | null)[] = [REBIRTH, "bdSeq"];

const inUtc = published([...COUNTED, "NDEATH"], ({ payload, atMs }) =>
  unless(
    payload.atMs === null || Math.abs(payload.atMs - atMs) < CLOCK_MS,
    `time ${payload.atMs}, and not now`,
  ),
);

/** A value may be as old as it likes. */
const metricInUtc = metrics(WITH_METRICS, (metric, { atMs }) =>
  unless(metric.atMs === null || metric.atMs < atMs + CLOCK_MS, `time ${metric.atMs}, which is to come`),
);

const uniqueAliases = published(BIRTHS, ({ message, payload, state }) => {
  const others = message.device === null ? [] : [state.node, ...exceptOf(state.devices, message.device)];
  const seen = new Set<number>();
  for (const { alias, name } of payload.metrics) {
    if (alias === null) continue;
    if (seen.has(alias) || others.some((born) => born?.byAlias.has(alias)))
      return `${name}: alias ${alias} is another metric's`;
    seen.add(alias);
  }
  return null;
});

function exceptOf<T>(devices: ReadonlyMap<string, T>, device: string): readonly T[] {
  return [...devices].flatMap(([id, born]) => (id === device ? [] : [born]));
}

const bornWithAlias = published(BIRTHS, ({ payload, state }) => {
  const hasAliases = payload.metrics.some(({ alias }) => alias !== null) || state.node?.byAlias.size;
  if (!hasAliases) return null;
  const without = payload.metrics.find(
    ({ name, alias }) => name === null || (alias === null && !byName.includes(name)),
  );
  return unless(without === undefined, `${without?.name ?? without?.alias}: not both name and alias`);
});

const saidByAlias = metrics(DATA, (metric, { born }) => {
  const alias = metric.alias ?? definitionOf(born, metric)?.alias ?? null;
  return unless(alias === null || metric.name === null, "it has an alias, and is named");
});

const valid = (isType: (datatype: number) => boolean) => (datatype: number | null) =>
  unless(datatype === null || isType(datatype), `datatype ${datatype}`);

const properties = (check: (property: Property, key: string, metric: Metric) => string | null): Check =>
  metrics(WITH_METRICS, (metric) => {
    for (const [index, property] of (metric.properties?.values ?? []).entries()) {
      const key = metric.properties?.keys[index] ?? "";
      const found = check(property, key, metric);
      if (found !== null) return `property ${key}: ${found}`;
    }
    return null;
  });

const oneKeyAValue = metrics(WITH_METRICS, ({ properties: set }) =>
  unless(set === null || set.keys.length === set.values.length, "not one property a key"),
);

const notTwice = published(BIRTHS, ({ payload }) => {
  const names = new Map<string, string>();
  for (const { name } of payload.metrics) {
    const same = names.get(name?.toLowerCase() ?? "");
    if (name !== null && same !== undefined && same !== name)
      return `${name}: differs from ${same} by case only`;
    if (name !== null) names.set(name.toLowerCase(), name);
  }
  return null;
});

/** The same for each type of message: `tck-id-payloads-<type>-<what>`. */
const eachType = COUNTED.flatMap((type): Rule[] => {
  const id = `tck-id-payloads-${type.toLowerCase()}`;
  const rule = (what: string, text: string, check: (said: Said) => string | null): Rule => ({
    id: `${id}-${what}`,
    text: `${type} ${text}`,
    check: published([type], check),
  });
  return [
    rule("timestamp", "says when it was sent", hasTimestamp),
    rule("seq", "has a sequence number of 0 to 255", hasSeq),
    ...(type === "NBIRTH"
      ? []
      : [rule("seq-inc", "has one more than the message before, and 0 after 255", seqFollows)]),
    ...(type === "DDEATH"
      ? []
      : [rule("qos", "has QoS 0", qosZero), rule("retain", "is not retained", notRetained)]),
  ];
});

/** Chapter 6, without templates, data sets and sessions. */
export const payloadRules: readonly Rule[] = [
  ...eachType,
  {
    id: "tck-id-payloads-timestamp-in-UTC",
    text: "the time of a message is UTC in milliseconds",
    check: inUtc,
  },
  {
    id: "tck-id-payloads-metric-timestamp-in-UTC",
    text: "the time of a metric is UTC in milliseconds",
    check: metricInUtc,
  },
  {
    id: "tck-id-payloads-sequence-num-incrementing",
    text: "sequence numbers go up by one over node and devices together, from 255 to 0",
    check: published(COUNTED, seqFollows),
  },
  {
    id: "tck-id-payloads-sequence-num-req-nbirth",
    text: "a birth of the node begins at 0",
    check: published(["NBIRTH"], seqFollows),
  },
  {
    id: "tck-id-payloads-ddeath-seq-number",
    text: "DDEATH is counted",
    check: published(["DDEATH"], hasSeq),
  },
  {
    id: "tck-id-payloads-name-requirement",
    text: "a metric has a name or an alias",
    check: metrics(WITH_METRICS, ({ name, alias }) => unless(name !== null || alias !== null, "neither")),
  },
  {
    id: "tck-id-payloads-alias-uniqueness",
    text: "no two metrics of the node and its devices have one alias",
    check: uniqueAliases,
  },
  {
    id: "tck-id-payloads-alias-birth-requirement",
    text: "with aliases, births have name and alias of all but Rebirth and bdSeq",
    check: bornWithAlias,
  },
  {
    id: "tck-id-payloads-alias-data-cmd-requirement",
    text: "what has an alias is not named in data",
    check: saidByAlias,
  },
  {
    id: "tck-id-payloads-name-birth-data-requirement",
    text: "each metric of births and data has a time",
    check: metrics(WITH_METRICS, ({ atMs }) => unless(atMs !== null, "no time")),
  },
  {
    id: "tck-id-payloads-metric-datatype-req",
    text: "each metric of a birth has a datatype",
    check: metrics(BIRTHS, ({ datatype }) => unless(datatype !== null, "no datatype")),
  },
  {
    id: "tck-id-payloads-metric-datatype-value",
    text: "a datatype is one of the standard's",
    check: metrics(WITH_METRICS, ({ datatype }) => valid(isMetricType)(datatype)),
  },
  {
    id: "tck-id-payloads-metric-datatype-not-req",
    text: "data have no datatypes",
    check: metrics(DATA, ({ datatype }) => unless(datatype === null, "data with a datatype")),
  },
  {
    id: "tck-id-payloads-propertyset-keys-array-size",
    text: "a set of properties has a value for each key",
    check: oneKeyAValue,
  },
  {
    id: "tck-id-payloads-propertyset-values-array-size",
    text: "a set of properties has a key for each value",
    check: oneKeyAValue,
  },
  {
    id: "tck-id-payloads-metric-propertyvalue-type-value",
    text: "the datatype of a property is one of the standard's",
    check: properties(({ datatype }) => valid(isPropertyType)(datatype)),
  },
  {
    id: "tck-id-payloads-metric-propertyvalue-type-req",
    text: "each property of a birth has a datatype",
    check: onlyOf(
      BIRTHS,
      properties(({ datatype }) => unless(datatype !== null, "no datatype")),
    ),
  },
  {
    id: "tck-id-payloads-propertyset-quality-value-type",
    text: "a Quality is an Int32",
    check: properties(({ datatype }, key) =>
      unless(key !== "Quality" || datatype === 3, `datatype ${datatype}`),
    ),
  },
  {
    id: "tck-id-payloads-propertyset-quality-value-value",
    text: "a Quality is 0, 192 or 500",
    check: properties(({ field, value }, key) =>
      unless(
        key !== "Quality" || (field === "intValue" && [0, 192, 500].includes(Number(value))),
        String(value),
      ),
    ),
  },
  { id: "tck-id-case-sensitivity-metric-names", text: "no two metrics differ by case only", check: notTwice },
];
