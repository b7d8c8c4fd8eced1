import {
  AttributeIds,
  BrowseDirection,
  DataType,
  HistoryReadRequest,
  makeBrowsePath,
  ReadRawModifiedDetails,
  StatusCodes,
  TimestampsToReturn,
} from "node-opcua";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { robotChange } from "./changes.ts";
import { type Caller, openSession, type RunningServer, startServer } from "./opcua-harness.ts";

/** Their nodes take seconds to build: the last ones are missing while these tests ask for them. */
const ROBOTS = 5_000;

let running: RunningServer;
let caller: Caller;
let lastTaken = ROBOTS;

beforeAll(async () => {
  running = await startServer({
    robots: Array.from({ length: ROBOTS }, (_unused, index) => ({
      robotId: `r${index}`,
      alias: index % 2 === 0 ? null : `AMR${index}`,
      number: index + 1,
      family: "cart" as const,
      conveyorIndexes: [0],
    })),
    stations: [{ name: "dock", needsPermit: false, load: null }],
  });
  caller = await openSession(running.url);
}, 60_000);
afterAll(async () => {
  await caller.close();
  await running.stop();
}, 60_000);

const figures = () => running.server.health().figures ?? {};

/** Asks for nodes of a robot whose nodes are missing: they are built from the first to the last. */
async function askOfMissing<T>(ask: (robot: string, index: number) => Promise<T>): Promise<T> {
  lastTaken -= 1;
  const index = lastTaken;
  const answer = await ask(`Robots.${index % 2 === 0 ? `r${index}` : `AMR${index}`}`, index);
  // Had the background come as far, nothing before it would be missing.
  expect(figures().robotsWaiting).toBeGreaterThan(0);
  return answer;
}
const id = (path: string) => `ns=2;s=${path}`;
const value = (path: string) => ({ nodeId: id(path), attributeId: AttributeIds.Value });

describe("a NodeId of a robot whose nodes are missing", () => {
  it("is there when the server is ready, which waits for no nodes", () => {
    expect(figures().robotsWaiting).toBeGreaterThan(ROBOTS / 2);
  });

  it("is found by Read", async () => {
    const data = await askOfMissing((robot) => caller.session.read(value(`${robot}.Conveyors.0.Loaded`)));
    expect(data.statusCode).toBe(StatusCodes.BadWaitingForInitialData);
    expect(await askOfMissing((robot) => caller.value(`${robot}.RobotId`))).toBe(`r${lastTaken}`);
  });

  it("is found by Write, which takes a slot's parameter and ticket", async () => {
    const closed = await askOfMissing(async (robot) => {
      const written = await caller.write(
        [`${robot}.MissionSlot.Destination`, { dataType: DataType.String, value: "Dock A" }],
        [`${robot}.MissionSlot.RequestId`, { dataType: DataType.Int32, value: -7 }],
      );
      expect(written).toEqual([StatusCodes.Good, StatusCodes.Good]);
      return caller.value(`${robot}.MissionSlot.Closed`);
    });
    expect(Array.from(closed as Int32Array)).toContain(-7);
  });

  it("is found by Browse, with all that is under it", async () => {
    const { references } = await askOfMissing((robot) =>
      caller.session.browse({ nodeId: id(robot), browseDirection: BrowseDirection.Forward, resultMask: 63 }),
    );
    expect(references?.map(({ browseName }) => browseName.name)).toEqual(
      expect.arrayContaining(["Valid", "Mission", "Battery", "Position", "MissionSlot", "Conveyors"]),
    );
  });

  it("is found by TranslateBrowsePathsToNodeIds, from the folder of all robots", async () => {
    const path = (robot: string) => `/2:${robot.slice("Robots.".length)}/2:Battery/2:ChargePercent`;
    const found = await askOfMissing(async (robot) => {
      const { targets } = await caller.session.translateBrowsePath(makeBrowsePath(id("Robots"), path(robot)));
      return [targets?.map(({ targetId }) => targetId.value), `${robot}.Battery.ChargePercent`];
    });
    expect(found[0]).toEqual([found[1]]);
  });

  it("is found by CreateMonitoredItems", async () => {
    const subscription = await caller.session.createSubscription2({ publishingEnabled: true });
    const item = await askOfMissing((robot) =>
      subscription.monitor(value(`${robot}.Family`), { samplingInterval: 0 }, TimestampsToReturn.Both),
    );
    const first = await new Promise((resolve) => item.on("changed", (data) => resolve(data.value.value)));
    expect(first).toBe("cart");
    await subscription.terminate();
  });

  it("is found by Call, as the object of a method", async () => {
    const result = await askOfMissing((robot) =>
      caller.session.call({
        objectId: id(robot),
        methodId: id("Operations.QueryOutcome"),
        inputArguments: [{ dataType: DataType.String, value: "nobody's" }],
      }),
    );
    expect(result.statusCode).toBe(StatusCodes.Good);
  });

  it("is found by RegisterNodes, whose handle reads it", async () => {
    const [handle] = await askOfMissing((robot) => caller.session.registerNodes([id(`${robot}.RobotId`)]));
    expect(handle?.toString()).not.toContain("Robots");
    const data = await caller.session.read({ nodeId: handle ?? "", attributeId: AttributeIds.Value });
    expect(data.value.value).toBe(`r${lastTaken}`);
  });

  it("is found by HistoryRead, which has nothing of any robot", async () => {
    const [answer] = await askOfMissing(async (robot) => {
      const request = new HistoryReadRequest({
        historyReadDetails: new ReadRawModifiedDetails({ startTime: new Date(0), endTime: new Date(1) }),
        nodesToRead: [{ nodeId: id(`${robot}.Valid`) }],
        timestampsToReturn: TimestampsToReturn.Both,
      });
      return (await caller.session.historyRead(request)).results ?? [];
    });
    expect(answer?.statusCode).not.toBe(StatusCodes.BadNodeIdUnknown);
  });

  it("is found by a station that names its robot by number, or by id", async () => {
    for (const isById of [true, false]) {
      const shown = await askOfMissing(async (_robot, index) => {
        const ticket = await caller.nextId("Stations.dock.Slot.NextId");
        const [robotId, number] = isById ? [`r${index}`, 0] : ["", index + 1];
        await caller.write(
          ["Stations.dock.Slot.Robot", { dataType: DataType.String, value: robotId }],
          ["Stations.dock.Slot.RobotNo", { dataType: DataType.Int32, value: number }],
          ["Stations.dock.Slot.Operation", { dataType: DataType.Int32, value: 51 }],
          ["Stations.dock.Slot.RequestId", { dataType: DataType.Int32, value: ticket }],
        );
        return caller.value("Stations.dock.Slot.AcceptedText");
      });
      expect(shown).toBe(`r${lastTaken}: release the lease`);
    }
  });
});

describe("a request for robots whose nodes are missing", () => {
  const MANY = 80;

  async function mostInOneTurn(request: Promise<unknown>): Promise<number> {
    let most = 0;
    let isDone = false;
    const done = request.finally(() => {
      isDone = true;
    });
    for (let before = figures().robots ?? 0; !isDone; ) {
      await new Promise(setImmediate);
      const now = figures().robots ?? 0;
      most = Math.max(most, now - before);
      before = now;
    }
    await done;
    return most;
  }
  function takeMany(): readonly string[] {
    lastTaken -= MANY;
    return Array.from({ length: MANY }, (_unused, place) => {
      const index = lastTaken + place;
      return `Robots.${index % 2 === 0 ? `r${index}` : `AMR${index}`}`;
    });
  }

  it("is answered whole, and leaves the others their turns meanwhile", async () => {
    const requests = [
      (names: readonly string[]) => caller.session.read(names.map((name) => value(`${name}.RobotId`))),
      (names: readonly string[]) => caller.session.browse(names.map(id)),
    ];
    for (const request of requests) {
      const answered = request(takeMany());
      expect(await mostInOneTurn(answered)).toBeLessThan(MANY / 3);
      expect((await answered).every(({ statusCode }) => statusCode.isGood())).toBe(true);
      expect(figures().robotsWaiting).toBeGreaterThan(0);
    }
  });
});

describe("a NodeId of no robot", () => {
  it("is unknown, and builds nothing", async () => {
    const { robots = 0, robotsWaiting = 0 } = figures();
    const paths = [
      "Robots.r99999.Valid",
      "Robots.r1.Valid",
      "Robots..Valid",
      "Robots.",
      "Robots.NodesMissing.X",
    ];
    for (const data of await caller.session.read(paths.map(value))) {
      expect(data.statusCode).toBe(StatusCodes.BadNodeIdUnknown);
    }
    expect((figures().robots ?? 0) + (figures().robotsWaiting ?? 0)).toBe(robots + robotsWaiting);
    expect(await caller.value("Gateway.RobotCount")).toBe(ROBOTS);
  });
});

describe("the folder of all robots", () => {
  it("lists every known robot, counts those whose nodes are missing, and has a version", async () => {
    const browse = async () => {
      const result = await caller.session.browse({
        nodeId: id("Robots"),
        referenceTypeId: "HasComponent",
        nodeClassMask: 1,
        resultMask: 63,
      });
      return (result.references ?? []).filter(({ isForward }) => isForward).length;
    };
    const version = await caller.value("Robots.NodeVersion");
    expect(await caller.value("Robots.NodesMissing")).toBeGreaterThan(0);
    expect(await browse()).toBe(ROBOTS);
    running.server.write({ changes: [robotChange("NodeVersion", "good")], events: [] });
    expect(await caller.value("Robots.NodeVersion")).not.toBe(version);
    expect(await caller.value("Robots.NodeVersion~.Valid")).toBe(true);
  });
});
