import type { Metric } from "../payload.ts";
import { definitionOf } from "../state.ts";
import { knownMetrics, valueOrNull } from "./metrics.ts";
import {
  BIRTHS,
  type Check,
  DATA,
  metrics,
  onlyOf,
  published,
  type Rule,
  type Said,
  unless,
} from "./rule.ts";

const inOrder = ({ payload }: Said) => {
  const times = payload.metrics.flatMap(({ atMs, isHistorical }) =>
    isHistorical || atMs === null ? [] : [atMs],
  );
  return unless(
    times.every((atMs, index) => atMs >= (times[index - 1] ?? atMs)),
    "values are not in the order of their times",
  );
};

/** Reports by exception: a message of data in which nothing differs from what was said before is none. */
const changed = (type: string): Check =>
  published([type], ({ message, payload, state }) => {
    const born = message.device === null ? state.node : state.devices.get(message.device);
    const isNew = (metric: Metric) => {
      const last = definitionOf(born ?? null, metric)?.last;
      return last === undefined || metric.isHistorical || saidOf(metric) !== saidOf(last);
    };
    return unless(payload.metrics.length === 0 || payload.metrics.some(isNew), "nothing has changed");
  });

function saidOf({ isNull, value, properties: set }: Metric): string {
  const quality = set?.values[set.keys.indexOf("Quality")]?.value ?? null;
  return JSON.stringify([isNull, value, quality]);
}

const valueInBirth = metrics(BIRTHS, (metric) => valueOrNull(metric));

const afterBirths = published(DATA, ({ message, state }) => {
  if (state.node === null) return "data before NBIRTH";
  if (message.device !== null && !state.devices.has(message.device)) return "data before DBIRTH";
  return unless(state.missing.size === 0, `data before the birth of ${[...state.missing][0]}`);
});

/** Chapters 2, 5 and 6: which data come when. */
export const dataRules: readonly Rule[] = [
  {
    id: "tck-id-payloads-ndata-order",
    text: "NDATA come after all births",
    check: onlyOf(["NDATA"], afterBirths),
  },
  {
    id: "tck-id-payloads-ddata-order",
    text: "DDATA come after all births",
    check: onlyOf(["DDATA"], afterBirths),
  },
  {
    id: "tck-id-payloads-dbirth-order",
    text: "a rebirth is not interrupted: DBIRTH of living devices come before data",
    check: published(DATA, ({ state }) =>
      unless(state.missing.size === 0, `data before the birth of ${[...state.missing][0]}`),
    ),
  },
  ...["nbirth", "dbirth"].flatMap((name): Rule[] => {
    const birth = name.toUpperCase();
    const data = name === "nbirth" ? "NDATA" : "DDATA";
    const id = `tck-id-operational-behavior-data-publish-${name}`;
    return [
      { id, text: `${data} has only metrics of ${birth}`, check: onlyOf([data], knownMetrics) },
      {
        id: `${id}-values`,
        text: `${birth} has current values, or is_null and none`,
        check: onlyOf([birth], valueInBirth),
      },
      { id: `${id}-change`, text: `${data} is sent when a value has changed`, check: changed(data) },
      {
        id: `${id}-order`,
        text: `values of ${birth} and ${data} are in the order of their times`,
        check: published([birth, data], inOrder),
      },
    ];
  }),
  {
    id: "tck-id-principles-rbe-recommended",
    text: "data report changes, and nothing in regular intervals",
    check: (event, state, expected) =>
      changed("NDATA")(event, state, expected) ?? changed("DDATA")(event, state, expected),
  },
];
