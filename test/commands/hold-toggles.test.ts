import { describe, expect, it } from "vitest";
import type { Source } from "../../src/domain/command.ts";
import { eva, hold, newRig, paused, running, scada, sent } from "./holds-harness.ts";
import { missions, plc, type Rig } from "./rig.ts";

const A_SECOND_MS = 1_000;

/** Begins and lifts a hold so often, without a moment between. */
function toggle({ dispatcher }: Rig, robotId: string | null, times: number, source: Source = plc): void {
  for (let time = 0; time < times; time += 1)
    for (const isHeld of [true, false]) expect(dispatcher.holds.hold({ source, robotId, isHeld })).toBeNull();
}

const events = (rig: Rig) => rig.notices.flatMap((one) => (one.kind === "hold" ? [one.to] : []));
const isHeld = (rig: Rig, robotId: string | null) => rig.dispatcher.holds.holdState(robotId).isHeld;
const figures = (rig: Rig) => rig.dispatcher.health().figures;

describe("a hold that is toggled", () => {
  it("is lifted once a second: more often it costs no call, no record and no event", async () => {
    const rig = await newRig();
    await rig.see(missions("AMR01", 1, running));
    toggle(rig, "AMR01", 1_000);
    await rig.clock.settle(0);
    expect(sent(rig)).toEqual(["Halt m1", "Halt m1"]);
    expect(events(rig)).toEqual(["held", "free", "held"]);
    expect(rig.audit.filter(({ event }) => event === "hold")).toHaveLength(3);
    expect(isHeld(rig, "AMR01")).toBe(true);
    expect(figures(rig)).toMatchObject({ holds: 1, holdsToBeLifted: 1 });
    await rig.clock.settle(A_SECOND_MS);
    expect(isHeld(rig, "AMR01")).toBe(false);
    expect(figures(rig)).toMatchObject({ holds: 0, holdsToBeLifted: 0 });
    expect(events(rig)).toEqual(["held", "free", "held", "free"]);
  });

  it("stays when its user's last word was to hold", async () => {
    const rig = await newRig();
    toggle(rig, "AMR01", 3);
    await hold(rig, "AMR01");
    await rig.clock.settle(10 * A_SECOND_MS);
    expect(isHeld(rig, "AMR01")).toBe(true);
    await hold(rig, "AMR01", false);
    expect(isHeld(rig, "AMR01")).toBe(false);
  });

  it("keeps nobody else from lifting a hold of their own", async () => {
    const rig = await newRig();
    await hold(rig, "AMR01", true, scada);
    toggle(rig, "AMR01", 5);
    await hold(rig, "AMR01", false, scada);
    expect(rig.dispatcher.holds.holdState("AMR01").by).toEqual(["opcua:plc"]);
  });

  it("is lifted by an engineer no more often either", async () => {
    const rig = await newRig();
    const request = { source: eva, robotId: "AMR01", isHeld: false, user: "opcua:plc" };
    for (let time = 0; time < 3; time += 1) {
      await hold(rig, "AMR01");
      expect(rig.dispatcher.holds.hold(request)).toBeNull();
    }
    expect(events(rig)).toEqual(["held", "free", "held"]);
    await rig.clock.settle(A_SECOND_MS);
    expect(rig.notices.at(-1)).toMatchObject({ kind: "hold", to: "free", by: eva });
  });

  it("is lifted before the gateway ends", async () => {
    const rig = await newRig();
    toggle(rig, "AMR01", 2);
    expect(isHeld(rig, "AMR01")).toBe(true);
    const closing = rig.dispatcher.close(A_SECOND_MS);
    await rig.clock.settle(0);
    await closing;
    expect(isHeld(rig, "AMR01")).toBe(false);
  });
});

describe("a user that toggles many holds", () => {
  it("lifts those of 100 robots a second, the first ones first", async () => {
    const rig = await newRig();
    const robots = Array.from({ length: 250 }, (_, number) => `r${number}`);
    for (const robotId of robots) await hold(rig, robotId);
    for (const robotId of robots) await hold(rig, robotId, false);
    const left = () => robots.filter((robotId) => isHeld(rig, robotId));
    expect(left()).toEqual(robots.slice(100));
    await rig.clock.settle(A_SECOND_MS);
    expect(left()).toEqual(robots.slice(200));
    await hold(rig, "AMR01", true, scada);
    await hold(rig, "AMR01", false, scada);
    expect(isHeld(rig, "AMR01")).toBe(false);
    await rig.clock.settle(A_SECOND_MS);
    expect(left()).toEqual([]);
  });

  it("lifts a hold on all robots as seldom as there are many, five seconds apart at most", async () => {
    const rig = await newRig();
    const robots = Array.from({ length: 2_000 }, (_, number) => `r${number}`);
    await rig.see(...robots.map((robotId) => missions(robotId, 1, paused)));
    await hold(rig, null);
    await hold(rig, null, false);
    expect(isHeld(rig, null)).toBe(false);
    await hold(rig, null);
    await hold(rig, null, false);
    await rig.clock.settle(4 * A_SECOND_MS);
    expect(isHeld(rig, null)).toBe(true);
    await rig.clock.settle(A_SECOND_MS);
    expect(isHeld(rig, null)).toBe(false);
  });
});
