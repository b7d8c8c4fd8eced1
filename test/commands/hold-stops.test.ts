import { describe, expect, it } from "vitest";
import type { CallEnding } from "../../src/contracts/fleet-port.ts";
import { as, hold, newRig, onChain, paused, running, sent } from "./holds-harness.ts";
import { belt, mission, missions, OK } from "./rig.ts";

const NOT_DONE: CallEnding = { kind: "refused", code: "PERMISSION_DENIED", message: "no" };
const PAUSED_ALREADY: CallEnding = { kind: "refused", code: "FAILED_PRECONDITION", message: "it is paused" };

describe("a robot that moves though it is held", () => {
  it("is stopped once more each time that it is seen to move anew", async () => {
    const rig = await newRig();
    await hold(rig, "AMR01");
    await rig.see(missions("AMR01", 1, running));
    expect(sent(rig)).toEqual(["Halt m1"]);
    await rig.call(0).answer(OK);
    await rig.see(missions("AMR01", 2, paused));
    await rig.see(missions("AMR01", 3, running));
    await rig.see(missions("AMR01", 4, paused, mission("m2", "B")));
    await rig.see(belt("AMR01", 5, 0, "OPERATION_STATE_ROLLING"));
    await rig.see(belt("AMR01", 6, 0, "OPERATION_STATE_STOP"));
    await rig.see(belt("AMR01", 7, 0, "OPERATION_STATE_ROLLING"));
    expect(sent(rig, 1)).toEqual(["Halt m1", "Halt m2", "StopBelts 0", "StopBelts 0"]);
  });

  it("is not stopped in a loop: neither while its stop is under way, nor by the same message again", async () => {
    const rig = await newRig();
    await hold(rig, "AMR01");
    const seen = missions("AMR01", 1, running);
    await rig.see(seen);
    for (let turn = 0; turn < 50; turn += 1) await rig.see(missions("AMR01", 2 + turn, running));
    await rig.call(0).answer(OK);
    const last = missions("AMR01", 100, running);
    for (let turn = 0; turn < 50; turn += 1) await rig.see(last);
    // The newest message came before the stop had its effect, perhaps: one more, a moment later.
    await rig.clock.settle(2_000);
    expect(sent(rig)).toEqual(["Halt m1", "Halt m1"]);
    await rig.call(1).answer(OK);
    for (let turn = 0; turn < 50; turn += 1) await rig.see(as("stale", last), last);
    await rig.clock.settle(60_000);
    expect(rig.calls).toHaveLength(2);
  });

  it("is stopped again every 10 s while its stop fails and it is seen, and not where there is nothing to stop", async () => {
    const rig = await newRig();
    await rig.see(missions("AMR01", 1, running));
    await hold(rig, "AMR01");
    await rig.call(0).answer(NOT_DONE);
    await rig.clock.settle(12_000);
    expect(sent(rig)).toEqual(["Halt m1", "Halt m1"]);
    await rig.call(1).answer(PAUSED_ALREADY);
    await rig.clock.settle(60_000);
    expect(rig.calls).toHaveLength(2);
  });

  it("is stopped by what was last known while it is out of sight, and again when it is seen running", async () => {
    const rig = await newRig();
    const last = missions("AMR01", 1, running);
    await rig.see(as("offline", last));
    await hold(rig, "AMR01");
    expect(sent(rig)).toEqual(["Halt m1"]);
    await rig.call(0).answer(NOT_DONE);
    await rig.clock.settle(60_000);
    expect(rig.calls).toHaveLength(1);
    await rig.see(last);
    expect(sent(rig, 1)).toEqual(["Halt m1"]);
  });

  it("is paused again for its task chain only while it is not seen paused", async () => {
    const rig = await newRig();
    await rig.see(onChain("ROBOT_STATE_EXECUTING"));
    await hold(rig, "AMR01");
    await rig.call(0).answer(OK);
    await rig.see(onChain("ROBOT_STATE_PAUSED"));
    await rig.clock.settle(60_000);
    expect(rig.calls).toHaveLength(1);
    await rig.see(onChain("ROBOT_STATE_EXECUTING"));
    expect(sent(rig)).toEqual(["Halt 101", "Halt 101"]);
  });
});
