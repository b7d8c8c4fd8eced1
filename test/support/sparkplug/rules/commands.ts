import { bdSeqOf, type Expected, type NodeState, REBIRTH } from "../state.ts";
import { type Check, DATA, published, type Rule, type Said, unless } from "./rule.ts";

const rebirthMetric = (check: (metric: Said["payload"]["metrics"][number]) => string | null): Check =>
  published(["NBIRTH"], ({ payload }) => {
    const metric = payload.metrics.find(({ name }) => name === REBIRTH);
    return metric === undefined ? `no metric ${REBIRTH}` : check(metric);
  });

/** When data end for a birth that a host asked for; null: no host waits for one. */
function dueAtMs({ askedAtMs, bornAtMs }: NodeState, { rebirthPaceMs, graceMs }: Expected): number | null {
  return askedAtMs === null ? null : Math.max(askedAtMs, bornAtMs + rebirthPaceMs) + graceMs;
}

const stopsData = published(DATA, ({ state, expected, atMs }) => {
  const dueMs = dueAtMs(state, expected);
  return unless(dueMs === null || atMs <= dueMs, "data instead of the birth that a host asked for");
});

const answers: Check = (event, state, expected) => {
  const dueMs = dueAtMs(state, expected);
  if (dueMs === null || state.hasDied) return null;
  if (event.kind === "end") return unless(event.atMs <= dueMs, "a birth that a host asked for did not come");
  if (event.kind !== "publish" || event.message.type !== "NBIRTH") return null;
  return unless(event.atMs <= dueMs, `the birth that a host asked for comes ${event.atMs - dueMs} ms late`);
};

const isComplete = published(DATA, ({ state }) =>
  unless(state.missing.size === 0, `data before ${[...state.missing][0]} was born again`),
);

const sameBdSeq = published(["NBIRTH"], ({ payload, state }) => {
  if (state.node === null) return null;
  const due = bdSeqOf(state.connect?.will?.payload ?? null);
  return unless(
    bdSeqOf(payload) === due,
    `bdSeq ${bdSeqOf(payload)} on request, and ${due} in the last will`,
  );
});

const noDeath = published(["NDEATH"], ({ state, atMs, expected }) =>
  unless(
    state.askedAtMs === null || state.offlineAtMs !== null || atMs > state.askedAtMs + expected.graceMs,
    "a birth on request has no death",
  ),
);

const prefix = "tck-id-operational-behavior-data-commands-rebirth";

/** Chapter 5, Commands: births that hosts ask for. */
export const commandRules: readonly Rule[] = [
  { id: `${prefix}-name`, text: "NBIRTH has Node Control/Rebirth", check: rebirthMetric(() => null) },
  {
    id: `${prefix}-name-aliases`,
    text: "Node Control/Rebirth has no alias",
    check: rebirthMetric(({ alias }) => unless(alias === null, `${REBIRTH} has the alias ${alias}`)),
  },
  {
    id: `${prefix}-datatype`,
    text: "Node Control/Rebirth is Boolean",
    check: rebirthMetric(({ datatype }) => unless(datatype === 11, `datatype ${datatype}`)),
  },
  {
    id: `${prefix}-value`,
    text: "Node Control/Rebirth is false in NBIRTH",
    check: rebirthMetric(({ value }) => unless(value === false, `value ${value}`)),
  },
  {
    id: `${prefix}-action-1`,
    text: "asked for a birth, the edge node sends no more data; requests within its pace wait together",
    check: stopsData,
  },
  {
    id: `${prefix}-action-2`,
    text: "asked for a birth, the edge node sends NBIRTH and the births of all devices",
    check: (event, state, expected) => answers(event, state, expected) ?? isComplete(event, state, expected),
  },
  { id: `${prefix}-action-3`, text: "a birth on request has the bdSeq of the last will", check: sameBdSeq },
  {
    id: "fleetgate-no-death-for-rebirth",
    text: "a birth on request has no NDEATH before it",
    check: noDeath,
  },
];
