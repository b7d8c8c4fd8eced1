import { describe, expect, it } from "vitest";
import { belt, createRig, LOST, mission, missions, OK, type Rig } from "./rig.ts";

const YEAR_MS = 365 * 86_400_000;

/** A command whose ending is unknown, sent when its robot's list was known. */
async function lost(rig: Rig) {
  await rig.see(missions("AMR01", rig.clock.nowMs(), mission("old", "A")));
  const sent = await rig.send("Go", { robot: "AMR01", to: "A" });
  return sent;
}

describe.each([
  ["forward", YEAR_MS],
  ["back", -YEAR_MS],
])("a wall clock that is set %s", (_, jumpMs) => {
  it("hides no evidence and makes none", async () => {
    const rig = await createRig();
    const sent = await lost(rig);
    rig.clock.jump(jumpMs);
    await rig.call(0).answer(LOST);
    await rig.see(missions("AMR01", rig.clock.nowMs(), mission("old", "A")));
    await rig.clock.settle(5_000);
    expect(sent.outcome).toBeNull();
    await rig.see(missions("AMR01", rig.clock.nowMs(), mission("old", "A"), mission("new", "A")));
    await rig.clock.settle(1_000);
    expect(sent.outcome).toMatchObject({ outcome: "probably_succeeded", missionId: "new" });
  });

  it("neither shortens nor stretches the search", async () => {
    const rig = await createRig();
    const sent = await lost(rig);
    await rig.call(0).answer(LOST);
    rig.clock.jump(jumpMs);
    await rig.clock.settle(14_999);
    expect(sent.outcome).toBeNull();
    await rig.clock.settle(1);
    expect(sent.outcome).toMatchObject({ outcome: "unknown" });
  });

  it("does not make the journal forget", async () => {
    const rig = await createRig();
    await rig.send("Go", { robot: "AMR01", to: "A" }, { requestId: "before" });
    await rig.call(0).answer(OK);
    rig.clock.jump(jumpMs);
    await rig.send("Go", { robot: "AMR01", to: "B" }, { requestId: "after" });
    await rig.call(1).answer(OK);
    await rig.clock.settle(60_000);
    for (const [requestId, to] of [
      ["before", "A"],
      ["after", "B"],
    ] as const) {
      const again = await rig.send("Go", { robot: "AMR01", to }, { requestId });
      expect(again.outcome).toMatchObject({ outcome: "succeeded", duplicate: true });
    }
    expect(rig.calls).toHaveLength(2);
  });
});

it("a wall clock that is set back does not stretch an expiry", async () => {
  const rig = await createRig();
  await rig.send("Go", { robot: "AMR01", to: "A" });
  const waits = await rig.send("Go", { robot: "AMR01", to: "B" });
  rig.clock.jump(-YEAR_MS);
  await rig.clock.settle(10_000);
  expect(waits.outcome).toMatchObject({ outcome: "expired" });
  expect(rig.calls).toHaveLength(1);
});

it("a conveyor's state of before a stop that is told again after it is no evidence", async () => {
  const rig = await createRig({ options: { evidenceMs: 1_000 } });
  const stopped = [0, 1].map((index) => belt("AMR01", rig.clock.nowMs(), index, "OPERATION_STATE_STOP"));
  await rig.see(...stopped);
  rig.clock.jump(-YEAR_MS);
  const stop = await rig.send("StopBelts", { robot: "AMR01" }, { startByMs: rig.clock.nowMs() + 100 });
  await rig.call(0).answer(LOST);
  await rig.see(...stopped);
  await rig.clock.settle(200);
  await rig.clock.settle(1_000);
  await rig.call(1).answer(LOST);
  await rig.clock.settle(400);
  await rig.clock.settle(1_000);
  expect(stop.outcome).toMatchObject({ outcome: "unknown" });
});

describe("a moment that the sender wrote (expires_at), when the wall clock is set back", () => {
  const HOUR_MS = 3_600_000;

  /** Written by a sender with the right time, half an hour ago. */
  const halfAnHourAgo = (rig: Rig) => ({ expiresAtMs: rig.clock.nowMs() - HOUR_MS / 2 });

  it("comes no second time", async () => {
    const rig = await createRig();
    const { expiresAtMs } = halfAnHourAgo(rig);
    rig.clock.jump(-HOUR_MS);
    const late = await rig.send("Go", { robot: "AMR01", to: "A" }, { startByMs: expiresAtMs, expiresAtMs });
    expect(late.outcome).toMatchObject({ outcome: "expired", code: "EXPIRED" });
    expect(rig.calls).toHaveLength(0);
  });

  it("is judged by the wall clock again once that is known to be right", async () => {
    const rig = await createRig();
    const { expiresAtMs } = halfAnHourAgo(rig);
    rig.clock.jump(-HOUR_MS);
    rig.dispatcher.confirmClock();
    await rig.send("Go", { robot: "AMR01", to: "A" }, { startByMs: expiresAtMs, expiresAtMs });
    expect(rig.calls).toHaveLength(1);
  });

  it("is judged by the wall clock where that is set forward", async () => {
    const rig = await createRig();
    const expiresAtMs = rig.clock.nowMs() + HOUR_MS / 2;
    rig.clock.jump(HOUR_MS);
    const late = await rig.send("Go", { robot: "AMR01", to: "A" }, { startByMs: expiresAtMs, expiresAtMs });
    expect(late.outcome).toMatchObject({ outcome: "expired" });
  });

  it("leaves alone a time that counts from the receipt", async () => {
    const rig = await createRig();
    rig.clock.jump(-HOUR_MS);
    await rig.send("Go", { robot: "AMR01", to: "A" }, { startByMs: rig.clock.nowMs() + 1_000 });
    expect(rig.calls).toHaveLength(1);
  });
});
