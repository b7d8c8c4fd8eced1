import { describe, expect, it } from "vitest";
import type { CallEnding } from "../../src/contracts/fleet-port.ts";
import { belt, mission, missions, OK } from "./commands-harness.ts";
import { as, hold, newRig, onChain, paused, running, sent } from "./holds-harness.ts";

const NOT_DONE: CallEnding = { kind: "refused", code: "PERMISSION_DENIED", message: "no" };
const PAUSED_ALREADY: CallEnding = { kind: "refused", code: "FAILED_PRECONDITION", message: "it is paused" };

describe("a robot that moves though it is held", () => {
  it("is stopped once more each time that it is seen to move anew", async () => {
    const harness = await newRig();
    await hold(harness, "AMR01");
    await harness.see(missions("AMR01", 1, running));
    expect(sent(harness)).toEqual(["Halt m1"]);
    await harness.call(0).answer(OK);
    await harness.see(missions("AMR01", 2, paused));
    await harness.see(missions("AMR01", 3, running));
    await harness.see(missions("AMR01", 4, paused, mission("m2", "B")));
    await harness.see(belt("AMR01", 5, 0, "OPERATION_STATE_ROLLING"));
    await harness.see(belt("AMR01", 6, 0, "OPERATION_STATE_STOP"));
    await harness.see(belt("AMR01", 7, 0, "OPERATION_STATE_ROLLING"));
    expect(sent(harness, 1)).toEqual(["Halt m1", "Halt m2", "StopBelts 0", "StopBelts 0"]);
  });

  it("is not stopped in a loop: neither while its stop is under way, nor by the same message again", async () => {
    const harness = await newRig();
    await hold(harness, "AMR01");
    const seen = missions("AMR01", 1, running);
    await harness.see(seen);
    for (let turn = 0; turn < 50; turn += 1) await harness.see(missions("AMR01", 2 + turn, running));
    await harness.call(0).answer(OK);
    const last = missions("AMR01", 100, running);
    for (let turn = 0; turn < 50; turn += 1) await harness.see(last);
    // The newest message came before the stop had its effect, perhaps: one more, a moment later.
    await harness.clock.settle(2_000);
    expect(sent(harness)).toEqual(["Halt m1", "Halt m1"]);
    await harness.call(1).answer(OK);
    for (let turn = 0; turn < 50; turn += 1) await harness.see(as("stale", last), last);
    await harness.clock.settle(60_000);
    expect(harness.calls).toHaveLength(2);
  });

  it("is stopped again every 10 s while its stop fails and it is seen, and not where there is nothing to stop", async () => {
    const harness = await newRig();
    await harness.see(missions("AMR01", 1, running));
    await hold(harness, "AMR01");
    await harness.call(0).answer(NOT_DONE);
    await harness.clock.settle(12_000);
    expect(sent(harness)).toEqual(["Halt m1", "Halt m1"]);
    await harness.call(1).answer(PAUSED_ALREADY);
    await harness.clock.settle(60_000);
    expect(harness.calls).toHaveLength(2);
  });

  it("is stopped by what was last known while it is out of sight, and again when it is seen running", async () => {
    const harness = await newRig();
    const last = missions("AMR01", 1, running);
    await harness.see(as("offline", last));
    await hold(harness, "AMR01");
    expect(sent(harness)).toEqual(["Halt m1"]);
    await harness.call(0).answer(NOT_DONE);
    await harness.clock.settle(60_000);
    expect(harness.calls).toHaveLength(1);
    await harness.see(last);
    expect(sent(harness, 1)).toEqual(["Halt m1"]);
  });

  it("is paused again for its task chain only while it is not seen paused", async () => {
    const harness = await newRig();
    await harness.see(onChain("ROBOT_STATE_EXECUTING"));
    await hold(harness, "AMR01");
    await harness.call(0).answer(OK);
    await harness.see(onChain("ROBOT_STATE_PAUSED"));
    await harness.clock.settle(60_000);
    expect(harness.calls).toHaveLength(1);
    await harness.see(onChain("ROBOT_STATE_EXECUTING"));
    expect(sent(harness)).toEqual(["Halt 101", "Halt 101"]);
  });
});
