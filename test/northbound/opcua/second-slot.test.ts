import { afterEach, beforeEach, expect, it } from "vitest";
import { createManualClock } from "../../support/manual-clock.ts";
import { createFakeCommander, type FakeCommander, fakeCatalogue, succeeded } from "./fake-commands.ts";
import { type Caller, openSession, type RunningServer, startServer } from "./opcua-harness.ts";

const robots = [{ robotId: "r1", alias: "AMR01", family: "cart", number: 7, conveyorIndexes: [] }] as const;
const stopping = [...fakeCatalogue("stops")].filter(([name]) => name === "UpdateMission");
const plcSlot = (name: string) => `Robots.AMR01.MissionSlot.${name}`;
const hmiSlot = (name: string) => `Robots.AMR01.MissionSlot2.${name}`;
const text = (value: string) => ({ dataType: "String", value }) as const;

let commander: FakeCommander;
let running: RunningServer;
let plc: Caller;
let hmi: Caller;

beforeEach(async () => {
  commander = createFakeCommander();
  const catalogue = new Map([...fakeCatalogue(), ...stopping]);
  const parts = { clock: createManualClock(), commander, catalogue };
  running = await startServer({ robots, missionSlots: 2 }, parts);
  [plc, hmi] = [await openSession(running.url), await openSession(running.url)];
});
afterEach(async () => {
  for (const caller of [plc, hmi]) await caller.close();
  await running.stop();
});

it("an HMI's slot has numbers of its own: neither program takes the other's, and a stop needs no wait", async () => {
  const started = await plc.nextId(plcSlot("NextId"));
  await plc.write([plcSlot("CommandText"), text(`${started};1;Dock A`)]);
  const mission = await commander.next();
  mission.stage("accepted");
  await plc.until(plcSlot("AcceptedId"), started);
  const stopped = await hmi.nextId(hmiSlot("NextId"));
  await hmi.write([hmiSlot("CommandText"), text(`${stopped};10;m-1`)]);
  const stop = await commander.next();
  expect([mission, stop].map(({ command }) => command.requestId)).toEqual([
    `Robots.AMR01.MissionSlot/run1.${started}`,
    `Robots.AMR01.MissionSlot2/run1.${stopped}`,
  ]);
  stop.end(succeeded(null));
  await hmi.until(hmiSlot("DoneId"), stopped);
  expect(await plc.value(plcSlot("AcceptedId"))).toBe(started);
  expect(Array.from((await plc.value(plcSlot("Closed"))) as Int32Array)).not.toContain(-started);
  mission.end(succeeded("m-1"));
  await plc.until(plcSlot("DoneId"), started);
  expect(await hmi.value(hmiSlot("AcceptedText"))).toBe("cancel mission m-1");
});
