import { describe, expect, it } from "vitest";
import type { Source } from "../../src/domain/command.ts";
import { type CommandsHarness, missions, plc } from "./commands-harness.ts";
import { eva, hold, newRig, paused, running, scada, sent } from "./holds-harness.ts";

const A_SECOND_MS = 1_000;

/** Begins and lifts a hold so often, without a moment between. */
function toggle(
  { dispatcher }: CommandsHarness,
  robotId: string | null,
  times: number,
  source: Source = plc,
): void {
  for (let time = 0; time < times; time += 1)
    for (const isHeld of [true, false]) expect(dispatcher.holds.hold({ source, robotId, isHeld })).toBeNull();
}

const events = (harness: CommandsHarness) =>
  harness.events.flatMap((one) => (one.kind === "hold" ? [one.to] : []));
const isHeld = (harness: CommandsHarness, robotId: string | null) =>
  harness.dispatcher.holds.holdState(robotId).isHeld;
const figures = (harness: CommandsHarness) => harness.dispatcher.health().figures;

describe("a hold that is toggled", () => {
  it("is lifted once a second: more often it costs no call, no record and no event", async () => {
    const harness = await newRig();
    await harness.see(missions("AMR01", 1, running));
    toggle(harness, "AMR01", 1_000);
    await harness.clock.settle(0);
    expect(sent(harness)).toEqual(["Halt m1", "Halt m1"]);
    expect(events(harness)).toEqual(["held", "free", "held"]);
    expect(harness.audit.filter(({ event }) => event === "hold")).toHaveLength(3);
    expect(isHeld(harness, "AMR01")).toBe(true);
    expect(figures(harness)).toMatchObject({ holds: 1, holdsToBeLifted: 1 });
    await harness.clock.settle(A_SECOND_MS);
    expect(isHeld(harness, "AMR01")).toBe(false);
    expect(figures(harness)).toMatchObject({ holds: 0, holdsToBeLifted: 0 });
    expect(events(harness)).toEqual(["held", "free", "held", "free"]);
  });

  it("stays when its user's last word was to hold", async () => {
    const harness = await newRig();
    toggle(harness, "AMR01", 3);
    await hold(harness, "AMR01");
    await harness.clock.settle(10 * A_SECOND_MS);
    expect(isHeld(harness, "AMR01")).toBe(true);
    await hold(harness, "AMR01", false);
    expect(isHeld(harness, "AMR01")).toBe(false);
  });

  it("keeps nobody else from lifting a hold of their own", async () => {
    const harness = await newRig();
    await hold(harness, "AMR01", true, scada);
    toggle(harness, "AMR01", 5);
    await hold(harness, "AMR01", false, scada);
    expect(harness.dispatcher.holds.holdState("AMR01").by).toEqual(["opcua:plc"]);
  });

  it("is lifted by an engineer no more often either", async () => {
    const harness = await newRig();
    const request = { source: eva, robotId: "AMR01", isHeld: false, user: "opcua:plc" };
    for (let time = 0; time < 3; time += 1) {
      await hold(harness, "AMR01");
      expect(harness.dispatcher.holds.hold(request)).toBeNull();
    }
    expect(events(harness)).toEqual(["held", "free", "held"]);
    await harness.clock.settle(A_SECOND_MS);
    expect(harness.events.at(-1)).toMatchObject({ kind: "hold", to: "free", by: eva });
  });

  it("is lifted before the gateway ends", async () => {
    const harness = await newRig();
    toggle(harness, "AMR01", 2);
    expect(isHeld(harness, "AMR01")).toBe(true);
    const closing = harness.dispatcher.close(A_SECOND_MS);
    await harness.clock.settle(0);
    await closing;
    expect(isHeld(harness, "AMR01")).toBe(false);
  });
});

describe("a user that toggles many holds", () => {
  it("lifts those of 100 robots a second, the first ones first", async () => {
    const harness = await newRig();
    const robots = Array.from({ length: 250 }, (_, number) => `r${number}`);
    for (const robotId of robots) await hold(harness, robotId);
    for (const robotId of robots) await hold(harness, robotId, false);
    const left = () => robots.filter((robotId) => isHeld(harness, robotId));
    expect(left()).toEqual(robots.slice(100));
    await harness.clock.settle(A_SECOND_MS);
    expect(left()).toEqual(robots.slice(200));
    await hold(harness, "AMR01", true, scada);
    await hold(harness, "AMR01", false, scada);
    expect(isHeld(harness, "AMR01")).toBe(false);
    await harness.clock.settle(A_SECOND_MS);
    expect(left()).toEqual([]);
  });

  it("lifts a hold on all robots as seldom as there are many, five seconds apart at most", async () => {
    const harness = await newRig();
    const robots = Array.from({ length: 2_000 }, (_, number) => `r${number}`);
    await harness.see(...robots.map((robotId) => missions(robotId, 1, paused)));
    await hold(harness, null);
    await hold(harness, null, false);
    expect(isHeld(harness, null)).toBe(false);
    await hold(harness, null);
    await hold(harness, null, false);
    await harness.clock.settle(4 * A_SECOND_MS);
    expect(isHeld(harness, null)).toBe(true);
    await harness.clock.settle(A_SECOND_MS);
    expect(isHeld(harness, null)).toBe(false);
  });
});
