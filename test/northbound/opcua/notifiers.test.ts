import {
  AttributeIds,
  BrowseDirection,
  constructEventFilter,
  StatusCodes,
  TimestampsToReturn,
} from "node-opcua";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StationNode } from "../../../src/northbound/opcua/options.ts";
import { createLive, type LiveSource } from "../../../src/platform/live.ts";
import { robotChange } from "./changes.ts";
import { type Caller, openSession, type RunningServer, startServer } from "./opcua-harness.ts";

const dock: StationNode = { name: "dock", needsPermit: false, load: null };
const gate: StationNode = { name: "gate", needsPermit: false, load: null };
let stations: LiveSource<readonly StationNode[]>;
let running: RunningServer;
let scada: Caller;

beforeAll(async () => {
  stations = createLive([dock, gate]);
  running = await startServer({
    robots: [{ robotId: "r1", alias: "AMR01", number: 1, family: "cart", conveyorIndexes: [1] }],
    stations,
  });
  running.server.write({ changes: [robotChange("r2", "good")], events: [] });
  scada = await openSession(running.url);
});
afterAll(async () => {
  await scada.close();
  await running.stop();
});

/** The notifiers of ours below a node, or above it, by their paths. */
async function notifiers(nodeId: string, browseDirection = BrowseDirection.Forward) {
  const { references } = await scada.session.browse({
    nodeId,
    browseDirection,
    referenceTypeId: "HasNotifier",
    resultMask: 63,
  });
  return (references ?? []).map((reference) => reference.nodeId.toString().replace("ns=2;s=", "")).sort();
}

describe("the hierarchy of event notifiers", () => {
  it("leads from the Server object to the gateway, each station and each robot", async () => {
    expect(await notifiers("i=2253")).toEqual(["Gateway", "Robots", "Stations"]);
    expect(await notifiers("ns=2;s=Robots")).toEqual(["Robots.AMR01", "Robots.r2"]);
    expect(await notifiers("ns=2;s=Stations")).toEqual(["Stations.dock", "Stations.gate"]);
  });

  it("leads back to the Server object", async () => {
    const above = (path: string) => notifiers(`ns=2;s=${path}`, BrowseDirection.Inverse);
    expect(await above("Robots.AMR01")).toEqual(["Robots"]);
    expect(await above("Stations.dock")).toEqual(["Stations"]);
    for (const path of ["Robots", "Stations", "Gateway"]) expect(await above(path)).toEqual(["ns=0;i=2253"]);
  });

  it("has no station that a reload has removed, and has it again when it comes back", async () => {
    stations.replace([gate]);
    expect(await notifiers("ns=2;s=Stations")).toEqual(["Stations.gate"]);
    stations.replace([dock, gate]);
    expect(await notifiers("ns=2;s=Stations")).toEqual(["Stations.dock", "Stations.gate"]);
  });
});

describe("a subscription to events", () => {
  const paths = ["Gateway", "Robots", "Robots.AMR01", "Stations.dock"].map((path) => `ns=2;s=${path}`);
  it.each(["i=2253", ...paths])("is accepted at %s", async (nodeId) => {
    const subscription = await scada.session.createSubscription2({ requestedPublishingInterval: 20 });
    const item = await subscription.monitor(
      { nodeId, attributeId: AttributeIds.EventNotifier },
      { samplingInterval: 0, queueSize: 10, filter: constructEventFilter(["Message"]) },
      TimestampsToReturn.Both,
    );
    expect(item.statusCode).toEqual(StatusCodes.Good);
    await subscription.terminate();
  });
});
