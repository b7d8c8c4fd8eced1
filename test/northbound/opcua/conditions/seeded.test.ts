import { afterEach, describe, expect, it } from "vitest";
import type { AlarmCode } from "../../../../src/domain/alarm.ts";
import type { KeptAlarms } from "../../../../src/state/alarm-registry.ts";
import {
  type ConditionsHarness,
  call,
  commentOf,
  eventIdOf,
  listen,
  nothingKept,
  robot,
  type Shown,
  startConditions,
} from "./conditions-harness.ts";

const robots = Array.from({ length: 72 }, (_, index) => `r${index}`);
/** Those that are raised at once; with every ending. */
const codes: readonly AlarmCode[] = [
  ...(["ROBOT_LOST", "MISSION_FAILED", "BATTERY_LOW", "FOREIGN_MISSIONS"] as const),
  ...(["ROBOT_CLOCK", "OUTCOME_UNKNOWN", "CONVEYOR_NOT_STOPPED"] as const),
];
let harness: ConditionsHarness | null = null;
afterEach(async () => {
  await harness?.[Symbol.asyncDispose]();
  harness = null;
});

function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

/**
 * The alarm of an EventId. A second part names one that has ended in the same batch: an acknowledgement ends
 * without a word what an earlier run has left, and the condition may hold again at once.
 */
const alarmOf = (event: Shown) => String(event.EventId).replace(/\.\d+\.\d+(\+.*)?$/, "");

/** What the alarms say, and what a client sees of them after a refresh. */
const inAlarms = ({ registry }: ConditionsHarness) =>
  registry
    .all()
    .map(({ id, isActive, acknowledged, text }) => [id, isActive, acknowledged !== null, text].join(" "))
    .sort();
const inEvents = (events: readonly Shown[]) =>
  events
    .map((event) =>
      [alarmOf(event), event["ActiveState.Id"], event["AckedState.Id"], event.Message].join(" "),
    )
    .sort();

/** What is wrong with the events of a run: each EventId has one content, and nothing comes after its end. */
function problemsOf(events: readonly Shown[]): readonly string[] {
  const contents = new Map<unknown, string>();
  const ended = new Set<string>();
  const problems: string[] = [];
  for (const event of events) {
    const id = String(event.EventId);
    if (event.ConditionName === null) continue;
    const { LastSeverity, ...stable } = event;
    const content = JSON.stringify(stable);
    if ((contents.get(id) ?? content) !== content) problems.push(`another event has the EventId ${id}`);
    contents.set(id, content);
    const alarm = alarmOf(event);
    if (event.Retain === true && ended.has(alarm)) problems.push(`${alarm} has ended before`);
    if (event.Retain === true && event["ActiveState.Id"] === false && event["AckedState.Id"] === true)
      problems.push(`${alarm} is over, and retained`);
    if (event.Retain === false) ended.add(alarm);
  }
  return problems;
}

describe.each([1, 7])("500 alarms raised, acknowledged and ended at random (seed %i)", (seed) => {
  it("are shown by a refresh as they are, after each reconnection and restart", async () => {
    const below = random(seed);
    const seen: Shown[] = [];
    let kept: KeptAlarms = nothingKept;
    for (const _run of [1, 2]) {
      harness = await startConditions(kept, { robotIds: robots });
      for (const _connection of [1, 2, 3]) {
        const client = await harness.client("ann");
        const listener = await listen(client);
        expect(inEvents(await listener.refresh())).toEqual(inAlarms(harness));
        for (let step = 0; step < 250; step += 1) {
          const source = robot(robots[below(robots.length)] ?? "");
          const code = codes[below(codes.length)] ?? "ROBOT_LOST";
          const alarms = harness.registry.all();
          const { id = "" } = alarms[below(Math.max(1, alarms.length))] ?? {};
          const act = below(10);
          if (act < 6) harness.registry.state(source, code, { holds: true, text: `found ${below(3)}` });
          else if (act < 8) harness.registry.state(source, code, { holds: false, text: "" });
          else harness.registry.acknowledge(id, { protocol: "mqtt", name: "hmi" });
          if (below(3) === 0) harness.publish();
        }
        harness.publish();
        const refreshed = await listener.refresh();
        expect(inEvents(refreshed)).toEqual(inAlarms(harness));
        const [first] = refreshed.filter((event) => event["AckedState.Id"] === false);
        if (first !== undefined)
          expect(
            await call(
              client,
              first.ConditionId,
              "AcknowledgeableConditionType_Acknowledge",
              eventIdOf(first),
              commentOf(null),
            ),
          ).toBe("Good");
        harness.publish();
        seen.push(...listener.events);
        await listener.subscription.terminate();
      }
      kept = structuredClone(harness.registry.kept());
      await harness[Symbol.asyncDispose]();
      harness = null;
    }
    expect(seen.length).toBeGreaterThan(500);
    expect(problemsOf(seen)).toEqual([]);
  });
});

it("finds planted defects: a Retain that never falls, an EventId twice, an ended alarm", () => {
  const event = (EventId: string, Retain: boolean, isActive: boolean, isAcknowledged: boolean): Shown => ({
    ...{ EventId, Retain, ConditionName: "ROBOT_LOST", Message: "found" },
    ...{ "ActiveState.Id": isActive, "AckedState.Id": isAcknowledged },
  });
  const raised = event("A.1.1", true, true, false);
  const over = event("A.1.2", false, false, true);
  expect(problemsOf([raised, over])).toEqual([]);
  expect(problemsOf([raised, { ...over, Retain: true }])).toEqual(["A is over, and retained"]);
  expect(problemsOf([raised, { ...over, EventId: "A.1.1" }])).toEqual([
    "another event has the EventId A.1.1",
  ]);
  expect(problemsOf([raised, over, raised])).toEqual(["A has ended before"]);
});
