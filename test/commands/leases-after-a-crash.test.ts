import { describe, expect, it } from "vitest";
import { openJournalOn } from "../support/journal-on.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { noRunningTime } from "../support/no-running-time.ts";
import { type CommandsHarness, createHarness, mission, missions, OK, plc } from "./commands-harness.ts";
import { createLossyDisk, syncing } from "./lossy-store.ts";

const stations = [
  { name: "Dock", destinations: ["D1", "D2"], heartbeatMs: 5_000 },
  { name: "Press", destinations: ["P1"], users: [{ protocol: "opcua", name: "press" }], heartbeatMs: 5_000 },
] as const;
const rights = [
  { source: { protocol: "opcua", name: "*" }, role: "engineer" },
  { source: { protocol: "mqtt", name: "*" }, role: "engineer" },
] as const;
const atDock = mission("m", "D1", { state: "STATE_SUCCEEDED" });
const scada = { protocol: "mqtt", name: "scada" } as const;

describe("a lease and a gateway that is killed", () => {
  const limits = { keepMs: 3_600_000, keepCount: 1_000 };

  /**
   * A gateway that has leased AMR01 to the dock with its belts rolling, killed; and the next one, `list` of
   * stations its own.
   */
  async function restarted(
    list: Parameters<typeof createHarness>[0] = { stations },
  ): Promise<CommandsHarness> {
    const disk = createLossyDisk();
    const clock = createManualClock();
    const options = { rights };
    const journal = () => openJournalOn(syncing(disk), limits, noRunningTime);
    const first = await createHarness({ stations, options, clock, journal: journal() });
    await first.see(missions("AMR01", clock.nowMs(), atDock));
    await first.dispatcher.stations.ask("Dock", plc, "AMR01");
    await first.send("RollBelts", { robot: "AMR01" });
    await first.call(0).answer(OK);
    disk.crash();
    return createHarness({ options, clock, journal: journal(), ...list });
  }

  it("says since when by the wall clock, and not since the restart", async () => {
    const disk = createLossyDisk();
    const clock = createManualClock();
    clock.jump(86_400_000);
    const journal = () => openJournalOn(syncing(disk), limits, noRunningTime);
    const first = await createHarness({ stations, options: { rights }, clock, journal: journal() });
    await first.see(missions("AMR01", clock.nowMs(), atDock));
    const askedAtMs = clock.nowMs();
    await first.dispatcher.stations.ask("Dock", plc, "AMR01");
    expect(first.dispatcher.stations.leaseOf("AMR01")).toMatchObject({ sinceMs: askedAtMs });
    await clock.settle(2_000);
    disk.crash();
    const next = await createHarness({ stations, options: { rights }, clock, journal: journal() });
    expect(next.dispatcher.stations.leaseOf("AMR01")).toMatchObject({ sinceMs: askedAtMs });
  });

  it("goes on for its station, which has as long as any to be heard of", async () => {
    const harness = await restarted();
    expect(harness.dispatcher.stations.leaseOf("AMR01")).toMatchObject({ station: "Dock", owner: plc });
    const refused = await harness.send("Go", { robot: "AMR01" }, { source: scada });
    expect(refused.outcome).toMatchObject({ code: "LEASE_HELD" });
    await harness.clock.settle(4_000);
    harness.dispatcher.stations.heartbeat("Dock", plc);
    await harness.see(missions("AMR01", harness.clock.nowMs(), atDock));
    await harness.clock.settle(4_000);
    expect(harness.dispatcher.stations.leaseOf("AMR01")).not.toBeNull();
  });

  it("lapses when the heartbeat of its station does not change again", async () => {
    const harness = await restarted();
    await harness.clock.settle(7_000);
    expect(harness.dispatcher.stations.leaseOf("AMR01")).toBeNull();
  });

  it("ends when the robot is seen to have left meanwhile", async () => {
    const harness = await restarted();
    await harness.see(missions("AMR01", harness.clock.nowMs(), mission("n", "X")));
    await harness.clock.settle(1_000);
    expect(harness.dispatcher.stations.leaseOf("AMR01")).toBeNull();
    expect(harness.audit.at(-1)).toMatchObject({ reason: "the robot has left" });
  });

  it("of a station that is no longer configured ends at once, and its conveyors are stopped", async () => {
    const harness = await restarted({ stations: [] });
    await harness.clock.settle(0);
    expect(harness.dispatcher.stations.leaseOf("AMR01")).toBeNull();
    expect(harness.audit).toContainEqual(
      expect.objectContaining({ event: "lease", reason: "the station is no longer configured" }),
    );
    expect(harness.events).toContainEqual(
      expect.objectContaining({ kind: "lease", to: "free", reason: "not_configured", by: null }),
    );
    expect(harness.calls).toMatchObject([
      { operation: "StopBelts", requestJson: '{"robot":"AMR01","belts":[0]}' },
      { operation: "StopBelts", requestJson: '{"robot":"AMR01","belts":[1]}' },
    ]);
  });

  it.each([
    ["the role", { stations, options: { rights: [{ source: plc, role: "observer" as const }] } }],
    [
      "the robot",
      { stations, options: { rights: [{ source: plc, role: "operator" as const, robots: ["AMR02"] }] } },
    ],
    ["the station", { stations: stations.map((station) => ({ ...station, users: [] })) }],
  ])("of an owner that has lost %s ends at once, and its conveyors are stopped", async (_, changes) => {
    const harness = await restarted(changes);
    await harness.clock.settle(0);
    expect(harness.dispatcher.stations.leaseOf("AMR01")).toBeNull();
    expect(harness.events).toContainEqual(
      expect.objectContaining({ kind: "lease", to: "free", reason: "not_allowed", by: null }),
    );
    expect(harness.audit).toContainEqual(
      expect.objectContaining({
        event: "lease",
        reason: "its owner may no longer use the station for the robot",
      }),
    );
    expect(harness.calls).toMatchObject([
      { operation: "StopBelts", requestJson: '{"robot":"AMR01","belts":[0]}' },
      { operation: "StopBelts", requestJson: '{"robot":"AMR01","belts":[1]}' },
    ]);
  });
});
