import { describe, expect, it } from "vitest";
import {
  belt,
  type CommandsHarness,
  createHarness,
  LOST,
  mission,
  missions,
  OK,
} from "./commands-harness.ts";

const YEAR_MS = 365 * 86_400_000;

/** A command whose ending is unknown, sent when its robot's list was known. */
async function lost(harness: CommandsHarness) {
  await harness.see(missions("AMR01", harness.clock.nowMs(), mission("old", "A")));
  const sent = await harness.send("Go", { robot: "AMR01", to: "A" });
  return sent;
}

describe.each([
  ["forward", YEAR_MS],
  ["back", -YEAR_MS],
])("a wall clock that is set %s", (_, jumpMs) => {
  it("hides no evidence and makes none", async () => {
    const harness = await createHarness();
    const sent = await lost(harness);
    harness.clock.jump(jumpMs);
    await harness.call(0).answer(LOST);
    await harness.see(missions("AMR01", harness.clock.nowMs(), mission("old", "A")));
    await harness.clock.settle(5_000);
    expect(sent.outcome).toBeNull();
    await harness.see(missions("AMR01", harness.clock.nowMs(), mission("old", "A"), mission("new", "A")));
    await harness.clock.settle(1_000);
    expect(sent.outcome).toMatchObject({ outcome: "probably_succeeded", missionId: "new" });
  });

  it("neither shortens nor stretches the search", async () => {
    const harness = await createHarness();
    const sent = await lost(harness);
    await harness.call(0).answer(LOST);
    harness.clock.jump(jumpMs);
    await harness.clock.settle(14_999);
    expect(sent.outcome).toBeNull();
    await harness.clock.settle(1);
    expect(sent.outcome).toMatchObject({ outcome: "unknown" });
  });

  it("does not make the journal forget", async () => {
    const harness = await createHarness();
    await harness.send("Go", { robot: "AMR01", to: "A" }, { requestId: "before" });
    await harness.call(0).answer(OK);
    harness.clock.jump(jumpMs);
    await harness.send("Go", { robot: "AMR01", to: "B" }, { requestId: "after" });
    await harness.call(1).answer(OK);
    await harness.clock.settle(60_000);
    for (const [requestId, to] of [
      ["before", "A"],
      ["after", "B"],
    ] as const) {
      const again = await harness.send("Go", { robot: "AMR01", to }, { requestId });
      expect(again.outcome).toMatchObject({ outcome: "succeeded", duplicate: true });
    }
    expect(harness.calls).toHaveLength(2);
  });
});

it("a wall clock that is set back does not stretch an expiry", async () => {
  const harness = await createHarness();
  await harness.send("Go", { robot: "AMR01", to: "A" });
  const waits = await harness.send("Go", { robot: "AMR01", to: "B" });
  harness.clock.jump(-YEAR_MS);
  await harness.clock.settle(10_000);
  expect(waits.outcome).toMatchObject({ outcome: "expired" });
  expect(harness.calls).toHaveLength(1);
});

it("a wall clock that is set forward does not shorten an expiry that counts from the receipt", async () => {
  const harness = await createHarness();
  await harness.send("Go", { robot: "AMR01", to: "A" });
  const waits = await harness.send("Go", { robot: "AMR01", to: "B" });
  harness.clock.jump(20 * 60_000);
  await harness.clock.settle(5_000);
  await harness.call(0).answer(OK);
  await harness.call(1).answer(OK);
  expect(waits.outcome).toMatchObject({ outcome: "succeeded" });
});

it("a moment that the sender wrote ends a command that waits when the wall clock is set past it", async () => {
  const harness = await createHarness();
  await harness.send("Go", { robot: "AMR01", to: "A" });
  const expiresAtMs = harness.clock.nowMs() + 8_000;
  const waits = await harness.send(
    "Go",
    { robot: "AMR01", to: "B" },
    { startByMs: expiresAtMs, expiresAtMs },
  );
  harness.clock.jump(20 * 60_000);
  await harness.call(0).answer(OK);
  expect(waits.outcome).toMatchObject({ outcome: "expired" });
  expect(harness.calls).toHaveLength(1);
});

it("a conveyor's state of before a stop that is told again after it is no evidence", async () => {
  const harness = await createHarness({ options: { evidenceMs: 1_000 } });
  const stopped = [0, 1].map((index) => belt("AMR01", harness.clock.nowMs(), index, "OPERATION_STATE_STOP"));
  await harness.see(...stopped);
  harness.clock.jump(-YEAR_MS);
  const stop = await harness.send(
    "StopBelts",
    { robot: "AMR01" },
    { startByMs: harness.clock.nowMs() + 100 },
  );
  await harness.call(0).answer(LOST);
  await harness.see(...stopped);
  await harness.clock.settle(200);
  await harness.clock.settle(1_000);
  await harness.call(1).answer(LOST);
  await harness.clock.settle(400);
  await harness.clock.settle(1_000);
  expect(stop.outcome).toMatchObject({ outcome: "unknown" });
});

describe("a moment that the sender wrote (expires_at), when the wall clock is set back", () => {
  const HOUR_MS = 3_600_000;

  /** Written by a sender with the right time, half an hour ago. */
  const halfAnHourAgo = (harness: CommandsHarness) => ({ expiresAtMs: harness.clock.nowMs() - HOUR_MS / 2 });

  it("comes no second time", async () => {
    const harness = await createHarness();
    const { expiresAtMs } = halfAnHourAgo(harness);
    harness.clock.jump(-HOUR_MS);
    const late = await harness.send(
      "Go",
      { robot: "AMR01", to: "A" },
      { startByMs: expiresAtMs, expiresAtMs },
    );
    expect(late.outcome).toMatchObject({ outcome: "expired", code: "EXPIRED" });
    expect(harness.calls).toHaveLength(0);
  });

  it("is judged by the wall clock again once that is known to be right", async () => {
    const harness = await createHarness();
    const { expiresAtMs } = halfAnHourAgo(harness);
    harness.clock.jump(-HOUR_MS);
    harness.dispatcher.confirmClock(0);
    await harness.send("Go", { robot: "AMR01", to: "A" }, { startByMs: expiresAtMs, expiresAtMs });
    expect(harness.calls).toHaveLength(1);
  });

  it("comes no second time where the service's clock alone shows it, after a restart", async () => {
    const harness = await createHarness();
    const expiresAtMs = harness.clock.nowMs() + HOUR_MS / 2;
    harness.dispatcher.confirmClock(HOUR_MS);
    const late = await harness.send(
      "Go",
      { robot: "AMR01", to: "A" },
      { startByMs: expiresAtMs, expiresAtMs },
    );
    expect(late.outcome).toMatchObject({ outcome: "expired", code: "EXPIRED" });
    await harness.send("Go", { robot: "AMR01", to: "A" }, { startByMs: harness.clock.nowMs() + 1_000 });
    expect(harness.calls).toHaveLength(1);
  });

  it("is judged by the wall clock where that is set forward", async () => {
    const harness = await createHarness();
    const expiresAtMs = harness.clock.nowMs() + HOUR_MS / 2;
    harness.clock.jump(HOUR_MS);
    const late = await harness.send(
      "Go",
      { robot: "AMR01", to: "A" },
      { startByMs: expiresAtMs, expiresAtMs },
    );
    expect(late.outcome).toMatchObject({ outcome: "expired" });
  });

  it("leaves alone a time that counts from the receipt", async () => {
    const harness = await createHarness();
    harness.clock.jump(-HOUR_MS);
    await harness.send("Go", { robot: "AMR01", to: "A" }, { startByMs: harness.clock.nowMs() + 1_000 });
    expect(harness.calls).toHaveLength(1);
  });
});
