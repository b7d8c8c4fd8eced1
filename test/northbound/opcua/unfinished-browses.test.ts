import { AttributeIds, BrowseDirection, type BrowseResult, StatusCodes, VariableIds } from "node-opcua";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Caller, openSession, type RunningServer, startServer } from "./opcua-harness.ts";

const MOST = 50;
let running: RunningServer;
let plc: Caller;

beforeAll(async () => {
  running = await startServer({
    robots: [{ robotId: "r1", alias: "AMR01", number: 1, family: "cart", conveyorIndexes: [1] }],
  });
  plc = await openSession(running.url);
  plc.session.requestedMaxReferencesPerNode = 1;
});
afterAll(async () => {
  await plc.close();
  await running.stop();
});

const robot = {
  nodeId: "ns=2;s=Robots.AMR01",
  browseDirection: BrowseDirection.Forward,
  referenceTypeId: "i=33",
  includeSubtypes: true,
  nodeClassMask: 0,
  resultMask: 63,
};
const browse = (): Promise<BrowseResult> => plc.session.browse(robot);
const goOn = ({ continuationPoint }: BrowseResult) => plc.session.browseNext(continuationPoint, false);

it("a session keeps as many unfinished browses as the server says: a new one ends the oldest", async () => {
  const most = await plc.session.read({
    nodeId: `ns=0;i=${VariableIds.Server_ServerCapabilities_MaxBrowseContinuationPoints}`,
    attributeId: AttributeIds.Value,
  });
  expect(most.value.value).toBe(MOST);
  const oldest = await browse();
  const second = await browse();
  for (let count = 2; count <= MOST; count += 1) await browse();
  const newest = await browse();
  for (const lost of [oldest, second]) {
    expect((await goOn(lost)).statusCode).toBe(StatusCodes.BadContinuationPointInvalid);
  }
  const rest = await goOn(newest);
  expect(rest.statusCode).toBe(StatusCodes.Good);
  expect(rest.references).toHaveLength(1);
});

it("one request has so many of them, and the next request is answered as ever", async () => {
  const results = await plc.session.browse(Array.from({ length: MOST + 5 }, () => robot));
  const statuses = results.map(({ statusCode }) => statusCode.name);
  expect(statuses).toEqual([
    ...Array.from({ length: MOST }, () => "Good"),
    ...Array.from({ length: 5 }, () => "BadNoContinuationPoints"),
  ]);
  expect((await browse()).statusCode).toBe(StatusCodes.Good);
  const [, next] = results;
  if (next === undefined) throw new Error("there is no second result");
  expect((await goOn(next)).statusCode).toBe(StatusCodes.Good);
});
