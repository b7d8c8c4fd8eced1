import { afterEach, beforeEach, expect, test } from "vitest";
import { batteryChange } from "./changes.ts";
import { type Caller, openSession, type RunningServer, startServer } from "./opcua-harness.ts";

let running: RunningServer;
let plc: Caller;

beforeEach(async () => {
  running = await startServer();
  plc = await openSession(running.url);
});
afterEach(async () => {
  await plc.close();
  await running.stop();
});

test("a robot whose clock shows a time that OPC UA cannot say is shown with the gateway's", async () => {
  const far = [9.2e21, -9.2e21, Number.NaN, 8.64e15, 8.64e15 + 1, -62_135_596_801_000, 253_402_300_800_000];
  for (const [index, sourceTimeMs] of far.entries()) {
    const change = batteryChange("r1", 10 + index);
    if (change.kind !== "battery") throw new Error("no battery");
    const { observed } = change;
    const stamp = { ...observed.stamp, sourceTimeMs };
    running.server.write({ changes: [{ ...change, observed: { ...observed, stamp } }], events: [] });
    await plc.until("Robots.r1.Battery.ChargePercent", 10 + index);
    const { sourceTimestamp } = await plc.read("Robots.r1.Battery.ChargePercent");
    expect(sourceTimestamp?.getTime(), String(sourceTimeMs)).toBe(observed.stamp.receivedAtMs);
  }
});

test("a robot whose clock is wrong is shown with the time of receipt, and said", async () => {
  const change = batteryChange("r1", 10);
  if (change.kind !== "battery") throw new Error("no battery");
  const { observed } = change;
  for (const [percent, isClockWrong] of [
    [10, false],
    [11, true],
    [12, false],
  ] as const) {
    const own = { ...observed.stamp, receivedAtMs: observed.stamp.receivedAtMs + percent };
    const stamp = isClockWrong ? { ...own, isClockWrong } : own;
    const value = { ...observed.value, chargePercent: percent };
    running.server.write({ changes: [{ ...change, observed: { ...observed, value, stamp } }], events: [] });
    await plc.until("Robots.r1.ClockValid", !isClockWrong);
    const { sourceTimestamp } = await plc.read("Robots.r1.Battery.ChargePercent");
    expect(sourceTimestamp?.getTime()).toBe(isClockWrong ? stamp.receivedAtMs : stamp.sourceTimeMs);
  }
});

test("a robot's clock is judged by what comes after the wall clock was set back, too", async () => {
  const change = batteryChange("r1", 10);
  if (change.kind !== "battery") throw new Error("no battery");
  const { observed } = change;
  for (const [receivedAtMs, isClockWrong] of [
    [Date.now() + 3_600_000, true],
    [Date.now(), undefined],
  ] as const) {
    const stamp = { ...observed.stamp, receivedAtMs, ...(isClockWrong && { isClockWrong }) };
    running.server.write({ changes: [{ ...change, observed: { ...observed, stamp } }], events: [] });
    await plc.until("Robots.r1.ClockValid", isClockWrong !== true);
  }
});
