import { expect, test } from "vitest";
import { systemClock } from "../../src/platform/clock.ts";
import { openE2eHarness } from "./e2e-harness.ts";

const HOUR_MS = 3_600_000;
const belt = { robotId: "cart-01", commands: [{ index: 1, command: "COMMAND_CONVEYOR_MOTOR_CW" }] };

test("no expired command leaves a gateway that starts on a clock that was set back", async () => {
  const clock = { ...systemClock, nowMs: () => Date.now() - HOUR_MS };
  const harness = await openE2eHarness({}, {}, clock);
  const { mqtt } = harness;
  await mqtt.on("robots/cart-01/availability", (text) => text === "good");
  const send = async (id: string, expiry: object) => {
    await mqtt.sendText("ControlConveyor", JSON.stringify({ id, ...expiry, request: belt }));
    return JSON.parse(await mqtt.replyText(id)) as unknown;
  };
  const halfAnHourAgo = new Date(Date.now() - HOUR_MS / 2).toISOString();
  expect(await send("late", { expires_at: halfAnHourAgo })).toMatchObject({ outcome: "expired" });
  expect(await send("in-time", { expires_in_ms: 10_000 })).toMatchObject({ outcome: "succeeded" });
  await harness.close();
});
