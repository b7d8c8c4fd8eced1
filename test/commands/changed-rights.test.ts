import { describe, expect, it } from "vitest";
import { createHarness, mission, missions, OK, plc } from "./commands-harness.ts";
import { sent } from "./holds-harness.ts";

/** Rights that change while the gateway runs. */
const scada = { protocol: "mqtt", name: "scada" } as const;
const both = [
  { source: plc, role: "operator" },
  { source: scada, role: "operator", robots: ["AMR01"] },
] as const;
const onlyScada = [both[1]] as const;
const nobody = () => false;
const NOT_ALLOWED = { outcome: "refused", code: "NOT_ALLOWED" };

describe("a command of a source whose right was taken", () => {
  it("is refused from then on, also as a dry run; a right that was given counts at once", async () => {
    const harness = await createHarness({ options: { rights: both } });
    const go = (robot: string, source: typeof plc | typeof scada) =>
      harness.send("Go", { robot, to: "A" }, { source });
    await go("AMR01", plc);
    expect(sent(harness)).toEqual(["Go AMR01"]);
    expect((await go("AMR02", scada)).outcome).toMatchObject(NOT_ALLOWED);
    harness.setRights([{ source: scada, role: "operator", robots: ["AMR02"] }]);
    expect((await go("AMR02", plc)).outcome).toMatchObject(NOT_ALLOWED);
    expect((await go("AMR01", scada)).outcome).toMatchObject(NOT_ALLOWED);
    expect(await harness.check("Go", { robot: "AMR01", to: "A" })).toMatchObject(NOT_ALLOWED);
    await go("AMR02", scada);
    expect(sent(harness)).toEqual(["Go AMR01", "Go AMR02"]);
    expect(harness.dispatcher.rights.refusedRobot(plc, "AMR01")).toContain("no rule names it");
  });

  it("stays accepted if it waits behind another: its sender was told so", async () => {
    const harness = await createHarness({ options: { rights: both } });
    await harness.send("Go", { robot: "AMR01", to: "A" });
    const waiting = await harness.send("Go", { robot: "AMR01", to: "B" });
    harness.setRights(onlyScada);
    harness.dispatcher.reviewRights(nobody);
    await harness.call(0).answer(OK);
    expect(sent(harness)).toEqual(["Go AMR01", "Go AMR01"]);
    await harness.call(1).answer(OK);
    expect(waiting.outcome).toMatchObject({ outcome: "succeeded" });
  });
});

describe("when rights have changed", () => {
  const stations = [
    { name: "Dock", destinations: ["D1"], heartbeatMs: 5_000, permit: { pauseOnLoss: false } },
  ] as const;

  async function leased() {
    const harness = await createHarness({ stations, options: { rights: both } });
    const at = mission("m", "D1", { state: "STATE_SUCCEEDED" });
    await harness.see(missions("AMR01", harness.clock.nowMs(), at));
    expect(await harness.dispatcher.stations.ask("Dock", plc, "AMR01")).toBeNull();
    return harness;
  }

  it("a lease ends whose station's user may not have it now, and is told as not_allowed", async () => {
    const harness = await leased();
    harness.dispatcher.reviewRights(nobody);
    expect(harness.dispatcher.stations.leaseOf("AMR01")).toMatchObject({ owner: plc });
    harness.setRights(onlyScada);
    harness.dispatcher.reviewRights(nobody);
    expect(harness.dispatcher.stations.leaseOf("AMR01")).toBeNull();
    expect(harness.events.at(-1)).toMatchObject({ kind: "lease", to: "free", reason: "not_allowed" });
  });

  it("a lease ends whose user is no more, even if a rule for everybody would allow it", async () => {
    const harness = await leased();
    harness.setRights([{ source: { protocol: "opcua", name: "*" }, role: "operator" }]);
    harness.dispatcher.reviewRights((source) => source.name === plc.name);
    expect(harness.dispatcher.stations.leaseOf("AMR01")).toBeNull();
  });

  it("a permit is lost at once, and a start towards the station refused; another word gives it", async () => {
    const harness = await createHarness({ stations, options: { rights: both } });
    const { permits } = harness.dispatcher;
    const give = (source: typeof plc | typeof scada) => {
      permits.heartbeat("Dock", source);
      return permits.write("Dock", source, true);
    };
    give(plc);
    expect(permits.permitOf("Dock").isGiven).toBe(true);
    harness.setRights(onlyScada);
    harness.dispatcher.reviewRights(nobody);
    const reason = 'opcua "plc", which wrote Permit, may not give it any more';
    expect(permits.permitOf("Dock")).toEqual({ isRequired: true, isGiven: false, reason });
    const start = await harness.send("Go", { robot: "AMR01", to: "D1" }, { source: scada });
    expect(start.outcome).toMatchObject({ code: "NO_PERMIT", message: expect.stringContaining(reason) });
    expect(give(plc)).toMatchObject(NOT_ALLOWED);
    expect(give(scada)).toBeNull();
    expect(permits.permitOf("Dock").isGiven).toBe(true);
  });

  it("a hold stays: it keeps robots from moving, and an engineer may lift it", async () => {
    const harness = await createHarness({ options: { rights: both } });
    expect(harness.dispatcher.holds.hold({ source: plc, robotId: "AMR01", isHeld: true })).toBeNull();
    harness.setRights(onlyScada);
    harness.dispatcher.reviewRights((source) => source.name === plc.name);
    expect(harness.dispatcher.holds.holdState("AMR01").isHeld).toBe(true);
  });
});
