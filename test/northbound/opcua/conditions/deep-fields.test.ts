import {
  AttributeIds,
  ContentFilter,
  DataType,
  FilterOperator,
  LocalizedText,
  resolveNodeId,
  SimpleAttributeOperand,
  type VariantOptions,
} from "node-opcua";
import { afterAll, beforeAll, expect, it } from "vitest";
import { literal, step } from "../filter-requests.ts";
import type { Caller } from "../opcua-harness.ts";
import { type ConditionsHarness, listen, robot, startConditions } from "./conditions-harness.ts";

const LOST = "ns=2;s=Robots.r1.Alarms.ROBOT_LOST";
const BATTERY = "ns=2;s=Robots.r2.Alarms.BATTERY";
/** The state Low of ExclusiveLimitStateMachineType. */
const LOW = "i=9333";
const DISK = "ns=2;s=Gateway.Alarms.DISK_FULL";

let harness: ConditionsHarness;
let ann: Caller;
/** One that is acknowledged, one with a level, and one without a robot. */
beforeAll(async () => {
  harness = await startConditions(undefined, { robotIds: ["r1", "r2"] });
  ann = await harness.client("ann");
  harness.set(robot("r1"), "ROBOT_LOST", true);
  const [lost] = harness.registry.all();
  harness.registry.acknowledge(lost?.id ?? "", { protocol: "mqtt", name: "hmi" }, "seen");
  harness.set(robot("r2"), "BATTERY_LOW", true);
  harness.set({ kind: "gateway" }, "DISK_FULL", true);
});
afterAll(() => harness[Symbol.asyncDispose]());

const english = (text: string): VariantOptions => ({
  dataType: DataType.LocalizedText,
  value: new LocalizedText({ locale: "en", text }),
});
const node = (id: string): VariantOptions => ({
  dataType: DataType.NodeId,
  value: resolveNodeId(id),
});
const boolean = (value: boolean): VariantOptions => ({ dataType: DataType.Boolean, value });

function field(type: string, path: string): SimpleAttributeOperand {
  return new SimpleAttributeOperand({
    typeDefinitionId: resolveNodeId(type),
    browsePath: path.split("/").map((name) => ({ name })),
    attributeId: AttributeIds.Value,
  });
}

it.each<[type: string, path: string, value: VariantOptions, conditions: readonly string[]]>([
  ["AcknowledgeableConditionType", "AckedState/Id", boolean(false), [BATTERY, DISK]],
  ["AcknowledgeableConditionType", "AckedState/Id", boolean(true), [LOST]],
  ["ConditionType", "EnabledState/Id", boolean(false), []],
  ["AlarmConditionType", "ActiveState/EffectiveDisplayName", english("Low"), [BATTERY]],
  ["AlarmConditionType", "ActiveState/EffectiveDisplayName", english("Active"), [LOST, DISK]],
  ["BaseEventType", "SourceNode", node("ns=2;s=Robots.r2"), [BATTERY]],
  ["ExclusiveLimitAlarmType", "LimitState/CurrentState/Id", node(LOW), [BATTERY]],
])("a where clause by %s %s lets through what equals it", async (type, path, value, conditions) => {
  const whereClause = new ContentFilter({
    elements: [step(FilterOperator.Equals, field(type, path), literal(value))],
  });
  const listener = await listen(ann, { whereClause });
  const shown = await listener.refresh();
  expect(shown.map(({ ConditionId }) => ConditionId).toSorted()).toEqual(conditions.toSorted());
  await listener.subscription.terminate();
});

it("select clauses have fields of fields", async () => {
  const listener = await listen(ann);
  const shown = await listener.refresh();
  expect(shown.find(({ ConditionId }) => ConditionId === BATTERY)).toMatchObject({
    SourceNode: "ns=2;s=Robots.r2",
    "AckedState.Id": false,
    ActiveState: "Active",
    "ActiveState.EffectiveDisplayName": "Low",
    "LimitState.CurrentState": "Low",
  });
  expect(shown.find(({ ConditionId }) => ConditionId === LOST)).toMatchObject({
    "AckedState.Id": true,
    "ActiveState.EffectiveDisplayName": "Active",
    "LimitState.CurrentState": null,
  });
});
