import { NodeId, type UAEventType, type UAObject } from "node-opcua";
import { beforeEach, expect, it } from "vitest";
import {
  type ConditionEvents,
  createConditionEvents,
  MOST_RAISED_A_TURN,
} from "../../../../src/northbound/opcua/conditions/condition-events.ts";
import { createConditionRegistry } from "../../../../src/northbound/opcua/conditions/condition-registry.ts";
import type { ConditionState } from "../../../../src/northbound/opcua/conditions/condition-state.ts";
import { systemClock } from "../../../../src/platform/clock.ts";
import { type AlarmRegistry, createAlarmRegistry } from "../../../../src/state/alarm-registry.ts";
import { nothingKept, robot } from "./conditions-harness.ts";

const ROBOTS = 5 * MOST_RAISED_A_TURN;
const LAST = `r${ROBOTS - 1}`;
let alarms: AlarmRegistry;
let conditions: ConditionEvents;
let raised: ConditionState[];
let isOpen: boolean;

beforeEach(() => {
  isOpen = true;
  raised = [];
  const source = { nodeId: new NodeId(), emit: () => true } as unknown as UAObject;
  const type = { nodeId: new NodeId() } as UAEventType;
  conditions = createConditionEvents(
    { findEventType: () => type } as never,
    createConditionRegistry([], { before: [], note() {} }, () => false),
    {
      of(state) {
        raised.push(state as ConditionState);
        return { source, conditionId: new NodeId(), sourceName: "", isOutOfService: false };
      },
    },
    { batteryLimits: () => ({ low: 20, critical: 10 }), certificateEndMs: () => null },
    () => isOpen,
  );
  alarms = createAlarmRegistry(systemClock, nothingKept, () => "e1");
  for (let index = 0; index < ROBOTS; index += 1) lose(`r${index}`, "found");
  alarms.take();
});

const lose = (robotId: string, text: string) =>
  alarms.state(robot(robotId), "ROBOT_LOST", { holds: true, text });
const turn = () => new Promise(setImmediate);

it("raises what a list has changed in turns", async () => {
  conditions.follow(alarms.all());
  expect(raised).toHaveLength(MOST_RAISED_A_TURN);
  for (let turns = 0; turns < ROBOTS / MOST_RAISED_A_TURN; turns += 1) await turn();
  expect(raised).toHaveLength(ROBOTS);
});

it("raises the newest state of each, and none that is older", async () => {
  conditions.follow(alarms.all());
  lose(LAST, "news");
  for (const event of alarms.take().events) if (event.kind === "alarm") conditions.note(event.alarm);
  lose("r200", "also news");
  alarms.take();
  conditions.follow(alarms.all());
  while (raised.length < ROBOTS) await turn();
  await turn();
  const textsOf = (robotId: string) =>
    raised.flatMap(({ alarm: { source, text } }) =>
      source.kind === "robot" && source.robotId === robotId ? [text] : [],
    );
  expect([textsOf(LAST), textsOf("r200")]).toEqual([["news"], ["also news"]]);
  expect(raised).toHaveLength(ROBOTS);
});

it("raises nothing more once the server has stopped", async () => {
  conditions.follow(alarms.all());
  isOpen = false;
  await turn();
  expect(raised).toHaveLength(MOST_RAISED_A_TURN);
});
