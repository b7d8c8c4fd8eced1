import { describe, expect, it } from "vitest";
import { createRig, LOST, mission, missions } from "./rig.ts";

describe("what is found of a command after its outcome was final", () => {
  it("tells as an event what is found after the outcome was final, which never changes", async () => {
    const rig = await createRig();
    await rig.see(missions("AMR01", rig.clock.nowMs() - 1));
    const sent = await rig.send("Go", { robot: "AMR01", to: "A" }, { requestId: "slow" });
    await rig.call(0).answer(LOST);
    await rig.clock.settle(15_000);
    expect(sent.outcome?.outcome).toBe("unknown");
    await rig.see(missions("AMR01", rig.clock.nowMs(), mission("late", "A")));
    expect(rig.notices).toHaveLength(2);
    expect(rig.notices[1]).toMatchObject({ kind: "command", outcome: { outcome: "unknown" } });
    expect(rig.notices[1]).toHaveProperty("foundLater", expect.stringContaining("mission late"));
    const again = await rig.send("Go", { robot: "AMR01", to: "A" }, { requestId: "slow" });
    expect(again.outcome).toMatchObject({ outcome: "unknown", duplicate: true });
  });

  it("tells of what was seen too shortly before the end to count for it", async () => {
    const rig = await createRig({ options: { settleMs: 1_000 } });
    await rig.see(missions("AMR01", rig.clock.nowMs() - 1));
    const sent = await rig.send("Go", { robot: "AMR01", to: "A" });
    await rig.call(0).answer(LOST);
    await rig.clock.settle(14_500);
    await rig.see(missions("AMR01", rig.clock.nowMs(), mission("m", "A")));
    await rig.clock.settle(500);
    expect(sent.outcome?.outcome).toBe("unknown");
    expect(rig.notices).toHaveLength(1);
    await rig.clock.settle(1_000);
    expect(rig.notices).toHaveLength(2);
    expect(rig.notices[1]).toHaveProperty("foundLater", expect.stringContaining("mission m"));
  });

  it("calls a mission found late when nobody else's it can be, and not the next command's own", async () => {
    const rig = await createRig();
    await rig.see(missions("AMR01", rig.clock.nowMs() - 1));
    const first = await rig.send("Go", { robot: "AMR01", to: "A" }, { requestId: "first" });
    await rig.call(0).answer(LOST);
    await rig.clock.settle(15_000);
    expect(first.outcome?.outcome).toBe("unknown");
    const second = await rig.send("Go", { robot: "AMR01", to: "A" }, { requestId: "second" });
    // The stream is faster than the answer.
    await rig.see(missions("AMR01", rig.clock.nowMs(), mission("seconds", "A")));
    await rig.call(1).answer({ kind: "ok", responseJson: "{}", missionId: "seconds" });
    await rig.clock.settle(2_000);
    expect(second.outcome?.outcome).toBe("succeeded");
    const late = rig.notices.filter((notice) => notice.kind === "command" && notice.foundLater !== undefined);
    expect(late).toEqual([]);
    await rig.see(missions("AMR01", rig.clock.nowMs(), mission("seconds", "A"), mission("firsts", "A")));
    expect(rig.notices.at(-1)).toMatchObject({
      from: "unknown",
      foundLater: expect.stringContaining("mission firsts"),
    });
  });

  it("says nothing of a mission that may be either of two commands'", async () => {
    const rig = await createRig();
    await rig.see(missions("AMR01", rig.clock.nowMs() - 1));
    for (const place of [0, 1]) {
      await rig.send("Go", { robot: "AMR01", to: "A" });
      await rig.call(place).answer(LOST);
      await rig.clock.settle(15_000);
    }
    const told = rig.notices.length;
    await rig.see(missions("AMR01", rig.clock.nowMs(), mission("whose", "A")));
    await rig.clock.settle(30_000);
    expect(rig.notices).toHaveLength(told);
  });
});
