import { copyFile, writeFile } from "node:fs/promises";
import { askGateway } from "../../../src/cli/control-client.ts";
import { openE2eHarness } from "../e2e-harness.ts";
import { cartMission } from "./cart-mission.ts";
import { shownBy } from "./shown.ts";

/**
 * Makes the recording of replay.test.ts at `path`, and at `shownPath` what MQTT showed meanwhile: a cart
 * drives to a station, turns its conveyor and drives to another.
 */
export async function makeRecording(path: string, shownPath: string): Promise<void> {
  // Fewer polls make a smaller file.
  const times = { rosterPollMs: 1_000, connectMs: 1_000, callMs: 1_000 };
  const harness = await openE2eHarness({ lively: "none", timeFactor: 4 }, { fleet: { times } });
  const { mqtt } = harness;
  const turn = (command: string) => ({ robotId: "cart-01", commands: [{ index: 1, command }] });
  const isDone = (text: string) => JSON.parse(text).to === "STATE_SUCCEEDED";
  try {
    await mqtt.on("robots/cart-01/mission");
    await mqtt.send("CreateMission", "1", cartMission("Station A"));
    await mqtt.on("robots/cart-01/event/mission", isDone);
    await mqtt.send("ControlConveyor", "2", turn("COMMAND_CONVEYOR_MOTOR_CW"));
    await mqtt.on(
      "robots/cart-01/event/conveyor",
      (text) => JSON.parse(text).to.operation_state === "OPERATION_STATE_ROLLING",
    );
    await mqtt.send("ControlConveyor", "3", turn("COMMAND_CONVEYOR_MOTOR_STOP"));
    const from = mqtt.received.entries.length;
    await mqtt.send("CreateMission", "4", cartMission("Station B"));
    await mqtt.on("robots/cart-01/event/mission", isDone, from);
    const request = { method: "POST", path: "/api/v1/recordings", body: {} } as const;
    const { body } = await askGateway(harness.socketPath, request, new AbortController().signal);
    await copyFile(String(body.path), path);
    await writeFile(shownPath, `${JSON.stringify(shownBy(mqtt), null, 2)}\n`);
  } finally {
    await harness.close();
  }
}
