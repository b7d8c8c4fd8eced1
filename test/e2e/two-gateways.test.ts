import { fromJson } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CreateMissionRequestSchema, FleetService } from "../../src/wire/fleet/v1/service_pb.js";
import { type E2eHarness, openIdleHarness } from "./e2e-harness.ts";

let harness: E2eHarness;

beforeAll(async () => {
  harness = await openIdleHarness(10, { timeFactor: 5 });
});
afterAll(() => harness.close());

const ROBOT = "base-01";
const tables = ["Table 1", "Table 2", "Table 3"] as const;

const toTable = (destinationId: string) => ({
  robotId: ROBOT,
  mission: { baseMission: { navigateMission: { goal: { destinationId } } } },
});

/** Waits until a mission is over, so that the next one may be created. */
const over = (missionId: string) =>
  harness.mqtt.on(
    `robots/${ROBOT}/event/mission`,
    (text) => text.includes(`"${missionId}"`) && text.includes('"to":"STATE_SUCCEEDED"'),
  );

interface CommandsHealth {
  readonly figures: { readonly foreign_missions: number; readonly foreign_alarms: number };
}

function commandsOf(text: string): CommandsHealth["figures"] | undefined {
  return (JSON.parse(text) as { parts?: { commands?: CommandsHealth } }).parts?.commands?.figures;
}

test("missions that another gateway sends to the same fleet are counted, shown, and raise an alarm", async () => {
  await harness.mqtt.on(`robots/${ROBOT}/availability`, (text) => text === "good");
  for (const [index, table] of tables.entries()) {
    const reply = await harness.mqtt.send("CreateMission", `own${index}`, toTable(table));
    await over(String(reply.response?.mission_id));
  }
  expect(harness.mqtt.texts(`robots/${ROBOT}/event/alarm`), "our own are no alarm").toEqual([]);

  const other = await harness.simulator().client();
  for (const table of tables) {
    const request = fromJson(CreateMissionRequestSchema, toTable(table));
    const { missionId } = await other.call(FleetService.method.createMission, request);
    await over(missionId);
  }
  const alarm = () => harness.mqtt.texts(`robots/${ROBOT}/event/alarm`)[0];
  // A mission is nobody's here only when no answer to a command of ours can name it any more.
  for (let round = 0; round < 5 && alarm() === undefined; round += 1) {
    const from = harness.mqtt.received.entries.length;
    await harness.mqtt.on("health", () => true, from);
  }
  expect(JSON.parse(alarm() ?? "null")).toMatchObject({
    robot_id: ROBOT,
    code: "FOREIGN_MISSIONS",
    from: "inactive",
    to: "active",
    text: `another client of the fleet service sends missions to ${ROBOT}: 3 within 10 minutes that no command of this gateway has made`,
  });
  const isShown = (health: string) => {
    const figures = commandsOf(health);
    return figures?.foreign_missions === 3 && figures.foreign_alarms === 1;
  };
  await harness.mqtt.on("health", isShown);
}, 60_000);
