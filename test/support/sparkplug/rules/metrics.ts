import type { Metric } from "../payload.ts";
import { definitionOf } from "../state.ts";
import { DATA, metrics, unless } from "./rule.ts";

/** The value field of each basic datatype; signed and unsigned 32 bits are written in either by hosts. */
const fieldsOf: Readonly<Record<number, readonly string[]>> = {
  ...Object.fromEntries([1, 2, 3, 5, 6].map((type) => [type, ["intValue"]])),
  ...Object.fromEntries([4, 8, 13].map((type) => [type, ["longValue"]])),
  7: ["intValue", "longValue"],
  9: ["floatValue"],
  10: ["doubleValue"],
  11: ["booleanValue"],
  ...Object.fromEntries([12, 14, 15].map((type) => [type, ["stringValue"]])),
  16: ["datasetValue"],
  17: ["bytesValue"],
  18: ["bytesValue"],
  19: ["templateValue"],
};

/** Datatypes of metrics: Int8 to Template, and arrays. */
export function isMetricType(datatype: number): boolean {
  return (datatype >= 1 && datatype <= 19) || (datatype >= 22 && datatype <= 34);
}

/** Datatypes of properties: the basic ones, and sets of properties. */
export function isPropertyType(datatype: number): boolean {
  return (datatype >= 1 && datatype <= 15) || datatype === 20 || datatype === 21;
}

/** A value in the field of its datatype, or `is_null` and none. */
export function valueOrNull({ isNull, field, datatype }: Metric, known: number | null = datatype) {
  if (isNull) return unless(field === null, "it is null, and has a value");
  if (field === null) return "neither a value nor null";
  const due = fieldsOf[known ?? 0];
  return unless(due === undefined || due.includes(field), `a value in ${field} for the datatype ${known}`);
}

/** Metrics that the birth before them has. */
export const knownMetrics = metrics(DATA, (metric, { born }) =>
  unless(
    definitionOf(born, metric) !== null,
    born === null ? "there was no birth" : "the birth has none of it",
  ),
);
