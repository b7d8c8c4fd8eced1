import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AttributeIds,
  EnumRedundancySupport,
  ReferenceTypeIds,
  TimestampsToReturn,
  VariableIds,
} from "node-opcua";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createManualClock } from "../../support/manual-clock.ts";
import { createTestCluster, members } from "../../support/test-cluster.ts";
import { receivedAtMs, robotChange } from "./changes.ts";
import {
  type Caller,
  factsOf,
  newClient,
  openSession,
  type RunningServer,
  startServer,
} from "./opcua-harness.ts";

const robots = [{ robotId: "r1", alias: null, number: null, family: "cart", conveyorIndexes: [1] }] as const;
const names = ["left", "right"] as const;
type Name = (typeof names)[number];

/** The numbers of slots of a box that does not lead begin here. */
const FIRST_STOP_ONLY = 2 ** 30;

/** One box of the cluster. */
interface Box {
  readonly view: ReturnType<typeof createTestCluster>;
  readonly running: RunningServer;
  readonly plc: Caller;
  isLinkUp: boolean;
}

const clock = createManualClock(receivedAtMs);
let boxes: Readonly<Record<Name, Box>>;

async function open(name: Name): Promise<Box> {
  const urls = members.map((each) => ({ ...each, opcuaUrl: `opc.tcp://${each.name}.example:4840` }));
  const view = createTestCluster(name, urls);
  const link = { isUp: true };
  const running = await startServer(
    {
      applicationUri: `urn:fleetgate:${name}`,
      dataDir: mkdtempSync(join(tmpdir(), "fleetgate-cluster-")),
      robots,
    },
    { clock, cluster: view, facts: { ...factsOf(`run of ${name}`), fleetLinkUp: () => link.isUp } },
  );
  running.server.write({ changes: [robotChange("r1", "good")], events: [] });
  const plc = await openSession(running.url);
  return {
    view,
    running,
    plc,
    get isLinkUp() {
      return link.isUp;
    },
    set isLinkUp(isUp) {
      link.isUp = isUp;
      running.server.write({ changes: [], events: [] });
    },
  };
}

beforeAll(async () => {
  boxes = { left: await open("left"), right: await open("right") };
});
afterAll(async () => {
  for (const name of names) {
    await boxes[name].plc.close();
    await boxes[name].running.stop();
  }
});

async function standard(name: Name, id: VariableIds): Promise<unknown> {
  const { session } = boxes[name].plc;
  const { value, statusCode } = await session.read({
    nodeId: `ns=0;i=${id}`,
    attributeId: AttributeIds.Value,
  });
  expect(statusCode.name).toBe("Good");
  return value.value;
}

const levelOf = (name: Name) => standard(name, VariableIds.Server_ServiceLevel);

describe("two servers of a cluster", () => {
  it("are a non-transparent redundant set, each of whom is hot", async () => {
    for (const name of names) {
      expect(await standard(name, VariableIds.Server_ServerRedundancy_RedundancySupport)).toBe(
        EnumRedundancySupport.Hot,
      );
      expect(await standard(name, VariableIds.Server_ServerRedundancy_ServerUriArray)).toEqual([
        "urn:fleetgate:left",
        "urn:fleetgate:right",
      ]);
      expect(await standard(name, VariableIds.Server_ServerArray)).toContain(`urn:fleetgate:${name}`);
    }
  });

  it("have the object of that type, where a client that browses finds the list", async () => {
    const found = await boxes.left.plc.session.browse({
      nodeId: "ns=0;i=2296",
      referenceTypeId: `i=${ReferenceTypeIds.References}`,
      includeSubtypes: true,
      resultMask: 63,
    });
    const forward = (found.references ?? []).filter(({ isForward }) => isForward);
    expect(forward.map(({ browseName }) => browseName.name).toSorted()).toEqual([
      "NonTransparentRedundancyType",
      "RedundancySupport",
      "RedundantServerArray",
      "ServerUriArray",
    ]);
  });

  it("name each other to a client that looks for servers", async () => {
    const client = newClient();
    await client.connect(boxes.left.running.url);
    const servers = await client.findServers();
    const ofPeer = await client.findServers({ serverUris: ["urn:fleetgate:right"] });
    await client.disconnect();
    expect(servers.map(({ applicationUri }) => applicationUri)).toEqual([
      "urn:fleetgate:left",
      "urn:fleetgate:right",
    ]);
    expect(servers[0]?.discoveryUrls).toEqual([boxes.left.running.url]);
    expect(ofPeer.map(({ discoveryUrls }) => discoveryUrls)).toEqual([["opc.tcp://right.example:4840"]]);
  });

  it("have the same nodes, and say who leads", async () => {
    boxes.left.view.change({ isActive: true, epoch: 2 ** 40, leader: "left" });
    boxes.right.view.change({ epoch: 2 ** 40, leader: "left" });
    for (const name of names) {
      const { plc } = boxes[name];
      expect(await plc.value("Gateway.Active")).toBe(name === "left");
      expect(await plc.value("Gateway.Member")).toBe(name);
      expect(await plc.value("Gateway.Epoch")).toBe(2 ** 40);
      expect(await plc.value("Gateway.ModelHash")).toBe(await boxes.left.plc.value("Gateway.ModelHash"));
    }
  });
});

describe("ServiceLevel in a cluster", () => {
  beforeEach(() => {
    for (const name of names) {
      const box = boxes[name];
      box.isLinkUp = true;
      box.running.server.write({ changes: [robotChange("r1", "good")], events: [] });
      box.view.change({ isActive: name === "left", epoch: 7, leader: "left", lagMs: 0 });
    }
    clock.advance(1_000);
  });

  it("of a leader is as without a cluster, and above each of a standby", async () => {
    expect([await levelOf("left"), await levelOf("right")]).toEqual([255, 99]);
    boxes.left.running.server.write({ changes: [robotChange("r1", "stale")], events: [] });
    clock.advance(1_000);
    expect([await levelOf("left"), await levelOf("right")]).toEqual([100, 99]);
  });

  it("of a standby is less by a second of lag each, and never that of no data", async () => {
    for (const [lagMs, level] of [
      [999, 99],
      [12_345, 87],
      [3_600_000, 2],
    ] as const) {
      boxes.right.view.change({ lagMs });
      expect(await levelOf("right")).toBe(level);
    }
  });

  it("without the fleet is 1, on a leader and on a standby", async () => {
    for (const name of names) boxes[name].isLinkUp = false;
    expect([await levelOf("left"), await levelOf("right")]).toEqual([1, 1]);
  });

  it("of a leader without proof is the lowest, until it has proof again", async () => {
    boxes.left.view.change({ isActive: false });
    expect([await levelOf("left"), await levelOf("right")]).toEqual([1, 99]);
    boxes.left.view.change({ isActive: true });
    expect(await levelOf("left")).toBe(255);
    boxes.left.view.change({ isActive: false, leader: "right", epoch: 8 });
    expect(await levelOf("left")).toBe(1);
  });

  it("of a leader that was held up is the lowest at the first read, like its other tags", async () => {
    const { view, plc } = boxes.left;
    const path = "Robots.r1.MissionSlot.NextId";
    expect(Number(await plc.value(path))).toBeLessThan(FIRST_STOP_ONLY);
    view.changeUnseen({ isActive: false });
    expect(await plc.value("Gateway.Active")).toBe(false);
    view.change({ isActive: true });
    view.changeUnseen({ isActive: false });
    expect(Number(await plc.value(path))).toBeGreaterThanOrEqual(FIRST_STOP_ONLY);
    view.change({ isActive: true });
    view.changeUnseen({ isActive: false });
    expect(await levelOf("left")).toBe(1);
  });
});

/** A client that has a session to each server, and uses the one whose level is the highest. */
async function followHighest(switched: (to: Name) => void): Promise<() => Promise<void>> {
  const levels: Record<Name, number> = { left: 0, right: 0 };
  let used: Name | null = null;
  const subscriptions = await Promise.all(
    names.map(async (name) => {
      const subscription = await boxes[name].plc.session.createSubscription2({
        requestedPublishingInterval: 10,
        requestedMaxKeepAliveCount: 100,
        requestedLifetimeCount: 1_000,
        publishingEnabled: true,
      });
      const item = await subscription.monitor(
        { nodeId: `ns=0;i=${VariableIds.Server_ServiceLevel}`, attributeId: AttributeIds.Value },
        { samplingInterval: 0, queueSize: 10, discardOldest: true },
        TimestampsToReturn.Both,
      );
      item.on("changed", ({ value }) => {
        levels[name] = Number(value.value);
        const best = levels.left >= levels.right ? "left" : "right";
        if (Math.min(levels.left, levels.right) === 0 || best === used) return;
        used = best;
        switched(best);
      });
      return subscription;
    }),
  );
  return async () => {
    for (const subscription of subscriptions) await subscription.terminate();
  };
}

it("a client that follows ServiceLevel goes with the leadership", async () => {
  const seen: Name[] = [];
  let notify = () => {};
  const next = () => new Promise<void>((resolve) => (notify = resolve));
  let came = next();
  boxes.left.view.change({ isActive: true, epoch: 9, leader: "left" });
  boxes.right.view.change({ isActive: false, epoch: 9, leader: "left" });
  const end = await followHighest((to) => {
    seen.push(to);
    notify();
  });
  await came;
  came = next();
  boxes.left.view.change({ isActive: false });
  await came;
  boxes.right.view.change({ isActive: true, epoch: 10, leader: "right" });
  expect(seen).toEqual(["left", "right"]);
  expect(await boxes.right.plc.value("Gateway.Active")).toBe(true);
  await end();
});
