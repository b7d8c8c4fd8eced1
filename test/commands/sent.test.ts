import { describe, expect, it } from "vitest";
import { createHarness, LOST, OK } from "./commands-harness.ts";

describe("a command whose call waits for a connection", () => {
  it.each([
    ["Go", 10_000],
    ["Halt", 2_000],
  ])("%s is sent when its call leaves, not while it waits for a connection", async (operation, waitMs) => {
    const harness = await createHarness({ callsWait: true });
    const sent = await harness.send(operation, { robot: "AMR01", to: "A" });
    expect(sent.stages).toEqual(["accepted"]);
    expect(harness.log.newest()[0]).toMatchObject({ acceptedAtMs: expect.any(Number), sentAtMs: null });
    await harness.clock.settle(waitMs / 2);
    harness.call(0).leave();
    expect(sent.stages).toEqual(["accepted", "sent"]);
    const sentAtMs = harness.clock.nowMs();
    expect(harness.log.newest()[0]).toMatchObject({ sentAtMs });
    await harness.call(0).answer(OK);
    expect(harness.audit.at(-1)).toMatchObject({ sent_at: new Date(sentAtMs).toISOString() });
  });

  it("was never sent if no call of it has left", async () => {
    const harness = await createHarness({ callsWait: true });
    const sent = await harness.send("Go", { robot: "AMR01", to: "A" });
    await harness.call(0).answer({ kind: "not_sent", message: "no connection" });
    expect(sent).toMatchObject({ stages: ["accepted"], outcome: { code: "FLEET_UNREACHABLE" } });
    expect(harness.audit.at(-1)).toMatchObject({ accepted_at: expect.any(String), sent_at: null });
    expect(harness.events.at(-1)).toMatchObject({ from: "accepted" });
  });

  it("is sent once, however often its call leaves", async () => {
    const harness = await createHarness({ callsWait: true });
    const sent = await harness.send("Halt", { robot: "AMR01" });
    harness.call(0).leave();
    const sentAtMs = harness.clock.nowMs();
    await harness.call(0).answer(LOST);
    await harness.clock.settle(200);
    harness.call(1).leave();
    expect(sent.stages).toEqual(["accepted", "sent"]);
    expect(harness.log.newest()[0]).toMatchObject({ sentAtMs });
  });
});
