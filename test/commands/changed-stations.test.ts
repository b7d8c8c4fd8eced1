import { describe, expect, it } from "vitest";
import type { StationOptions } from "../../src/commands/options.ts";
import { createLive } from "../../src/platform/live.ts";
import { createHarness, mission, missions, plc } from "./commands-harness.ts";

/** Stations that change while the gateway runs. */
const dock = { name: "Dock", destinations: ["D1", "D2"], heartbeatMs: 5_000 };
const guarded = { name: "Gate", destinations: ["G1"], heartbeatMs: 5_000, permit: { pauseOnLoss: false } };
const nobody = () => false;

async function open(...first: readonly StationOptions[]) {
  const stations = createLive<readonly StationOptions[]>(first);
  const harness = await createHarness({ stations });
  return { harness, stations, dispatcher: harness.dispatcher };
}

describe("a station that leases a robot", () => {
  async function leased() {
    const opened = await open(dock);
    const at = mission("m", "D1", { state: "STATE_SUCCEEDED" });
    await opened.harness.see(missions("AMR01", opened.harness.clock.nowMs(), at));
    expect(await opened.dispatcher.stations.ask("Dock", plc, "AMR01")).toBeNull();
    return opened;
  }
  const reason = 'robot AMR01 is leased to station Dock for opcua "plc": release it first, or restart';

  it("cannot be removed, or lose the destination, until the lease has ended", async () => {
    const { dispatcher } = await leased();
    expect(dispatcher.refusedStations([])).toEqual([{ path: "stations.Dock", reason }]);
    expect(dispatcher.refusedStations([{ ...dock, destinations: ["D2"] }])).toEqual([
      { path: "stations.Dock.destinations", reason },
    ]);
    dispatcher.stations.release("Dock", plc, "AMR01");
    expect(dispatcher.refusedStations([])).toEqual([]);
  });

  it("can change otherwise, and keeps the lease", async () => {
    const { dispatcher, stations, harness } = await leased();
    const next = [{ ...dock, destinations: ["D1", "D3"] }, guarded];
    expect(dispatcher.refusedStations(next)).toEqual([]);
    stations.replace(next);
    dispatcher.reviewRights(nobody);
    harness.clock.advance(2_000);
    expect(dispatcher.stations.leaseOf("AMR01")).toMatchObject({ station: "Dock" });
  });
});

describe("a station that comes or goes", () => {
  it("can be asked for a robot as soon as it is there, and not when it is gone", async () => {
    const { harness, stations, dispatcher } = await open();
    const at = mission("m", "D1", { state: "STATE_SUCCEEDED" });
    await harness.see(missions("AMR01", harness.clock.nowMs(), at));
    expect(await dispatcher.stations.ask("Dock", plc, "AMR01")).toMatchObject({ code: "MALFORMED" });
    stations.replace([dock]);
    dispatcher.reviewRights(nobody);
    expect(await dispatcher.stations.ask("Dock", plc, "AMR01")).toBeNull();
    dispatcher.stations.release("Dock", plc, "AMR01");
    stations.replace([]);
    dispatcher.reviewRights(nobody);
    expect(await dispatcher.stations.ask("Dock", plc, "AMR01")).toMatchObject({ code: "MALFORMED" });
  });

  it("requires its permit from the first start on, and no more when it is gone", async () => {
    const { harness, stations, dispatcher } = await open();
    stations.replace([guarded]);
    // Its tags are made in this turn, before rights are looked at: they must not show a consent.
    expect(dispatcher.permits.permitOf("Gate")).toMatchObject({ isRequired: true, isGiven: false });
    dispatcher.reviewRights(nobody);
    const refused = await harness.send("Go", { robot: "AMR01", to: "G1" });
    expect(refused.outcome).toMatchObject({ code: "NO_PERMIT" });
    dispatcher.permits.heartbeat("Gate", plc);
    expect(dispatcher.permits.write("Gate", plc, true)).toBeNull();
    stations.replace([]);
    dispatcher.reviewRights(nobody);
    expect(dispatcher.permits.write("Gate", plc, true)).toMatchObject({ code: "MALFORMED" });
    await harness.send("Go", { robot: "AMR01", to: "G1" });
    expect(harness.calls).toHaveLength(1);
  });
});
