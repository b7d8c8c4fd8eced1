import { describe, expect, it } from "vitest";
import { createHarness, LOST, mission, missions } from "./commands-harness.ts";

describe("what is found of a command after its outcome was final", () => {
  it("tells as an event what is found after the outcome was final, which never changes", async () => {
    const harness = await createHarness();
    await harness.see(missions("AMR01", harness.clock.nowMs() - 1));
    const sent = await harness.send("Go", { robot: "AMR01", to: "A" }, { requestId: "slow" });
    await harness.call(0).answer(LOST);
    await harness.clock.settle(15_000);
    expect(sent.outcome?.outcome).toBe("unknown");
    await harness.see(missions("AMR01", harness.clock.nowMs(), mission("late", "A")));
    expect(harness.events).toHaveLength(2);
    expect(harness.events[1]).toMatchObject({ kind: "command", outcome: { outcome: "unknown" } });
    expect(harness.events[1]).toHaveProperty("foundLater", expect.stringContaining("mission late"));
    const again = await harness.send("Go", { robot: "AMR01", to: "A" }, { requestId: "slow" });
    expect(again.outcome).toMatchObject({ outcome: "unknown", duplicate: true });
  });

  it("tells of what was seen too shortly before the end to count for it", async () => {
    const harness = await createHarness({ options: { settleMs: 1_000 } });
    await harness.see(missions("AMR01", harness.clock.nowMs() - 1));
    const sent = await harness.send("Go", { robot: "AMR01", to: "A" });
    await harness.call(0).answer(LOST);
    await harness.clock.settle(14_500);
    await harness.see(missions("AMR01", harness.clock.nowMs(), mission("m", "A")));
    await harness.clock.settle(500);
    expect(sent.outcome?.outcome).toBe("unknown");
    expect(harness.events).toHaveLength(1);
    await harness.clock.settle(1_000);
    expect(harness.events).toHaveLength(2);
    expect(harness.events[1]).toHaveProperty("foundLater", expect.stringContaining("mission m"));
  });

  it("calls a mission found late when nobody else's it can be, and not the next command's own", async () => {
    const harness = await createHarness();
    await harness.see(missions("AMR01", harness.clock.nowMs() - 1));
    const first = await harness.send("Go", { robot: "AMR01", to: "A" }, { requestId: "first" });
    await harness.call(0).answer(LOST);
    await harness.clock.settle(15_000);
    expect(first.outcome?.outcome).toBe("unknown");
    const second = await harness.send("Go", { robot: "AMR01", to: "A" }, { requestId: "second" });
    // The stream is faster than the answer.
    await harness.see(missions("AMR01", harness.clock.nowMs(), mission("seconds", "A")));
    await harness.call(1).answer({ kind: "ok", responseJson: "{}", missionId: "seconds" });
    await harness.clock.settle(2_000);
    expect(second.outcome?.outcome).toBe("succeeded");
    const late = harness.events.filter((event) => event.kind === "command" && event.foundLater !== undefined);
    expect(late).toEqual([]);
    await harness.see(
      missions("AMR01", harness.clock.nowMs(), mission("seconds", "A"), mission("firsts", "A")),
    );
    expect(harness.events.at(-1)).toMatchObject({
      from: "unknown",
      foundLater: expect.stringContaining("mission firsts"),
    });
  });

  it("says nothing of a mission that may be either of two commands'", async () => {
    const harness = await createHarness();
    await harness.see(missions("AMR01", harness.clock.nowMs() - 1));
    for (const place of [0, 1]) {
      await harness.send("Go", { robot: "AMR01", to: "A" });
      await harness.call(place).answer(LOST);
      await harness.clock.settle(15_000);
    }
    const told = harness.events.length;
    await harness.see(missions("AMR01", harness.clock.nowMs(), mission("whose", "A")));
    await harness.clock.settle(30_000);
    expect(harness.events).toHaveLength(told);
  });
});
