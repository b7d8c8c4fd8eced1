import { describe, expect, it } from "vitest";
import { plc } from "./commands-harness.ts";
import { rigAtDock, roll, stopsOf } from "./conveyor-runs-harness.ts";

describe("a start of conveyors through a station", () => {
  it("NO_LEASE: is refused without the station's own lease; a stop never is", async () => {
    const harness = await rigAtDock();
    const noLease = {
      outcome: "refused",
      code: "NO_LEASE",
      message:
        'station Dock does not lease robot AMR01 for opcua "plc": through its slot conveyors start only while it does',
    };
    expect((await roll(harness)).outcome).toMatchObject(noLease);
    await harness.dispatcher.stations.ask("Dock", plc, "AMR01");
    expect((await roll(harness, { station: "Press" })).outcome).toMatchObject({ code: "NO_LEASE" });
    expect((await harness.send("StopBelts", { robot: "AMR01" }, { station: "Press" })).outcome).toBeNull();
    expect(harness.calls.map(({ operation }) => operation)).toEqual(["StopBelts"]);
  });

  it("NO_LEASE: is refused when the lease ends in the moment before it leaves", async () => {
    const harness = await rigAtDock({ callsWait: true });
    await harness.dispatcher.stations.ask("Dock", plc, "AMR01");
    const sent = await roll(harness);
    expect(harness.call(0).mayLeave()).toBe(true);
    harness.dispatcher.stations.release("Dock", plc, "AMR01");
    expect(harness.call(0).mayLeave()).toBe(false);
    await harness.call(0).answer({ kind: "not_sent", message: "held back" });
    expect(sent.outcome).toMatchObject({ outcome: "refused", code: "NO_LEASE" });
    await harness.clock.settle(10_000);
    expect(stopsOf(harness)).toEqual([]);
  });
});
