import { fromJson } from "@bufbuild/protobuf";
import { afterEach, expect, test, vi } from "vitest";
import { MissionSchema } from "../../src/wire/fleet/v1/mission_pb.js";
import { contractScenario, createRobotPool } from "../contract/contract-harness.ts";
import { openHost, type Seen } from "../northbound/mqtt/sparkplug/sparkplug-harness.ts";
import { freePorts } from "../support/free-ports.ts";
import { startPlantBroker } from "../support/plant-broker.ts";
import { startSimulator } from "../support/simulator.ts";
import { startHere } from "./built-gateway.ts";
import { writeConfiguration } from "./daemon.ts";
import { makeFolder } from "./outbox-harness.ts";

const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const mission = fromJson(MissionSchema, {
  baseMission: { navigateMission: { goal: { pose: { xMeters: 1, yMeters: 0, headingRadians: 0 } } } },
});

const bdSeqOf = ({ metrics }: Seen) => Number(metrics.find(({ name }) => name === "bdSeq")?.value);
const wordOf = (metrics: Seen["metrics"]) =>
  metrics.flatMap(({ value }) => (typeof value === "string" && value.startsWith("STATE_") ? [value] : []));

test("an outage of the broker: births with the newest values, then what happened meanwhile, in order", async () => {
  const folder = await makeFolder(cleanups);
  const { id } = createRobotPool()("base");
  const scenario = { kind: "given", scenario: contractScenario() } as const;
  const simulator = await startSimulator({ scenario, timeFactor: 60 });
  cleanups.push(() => simulator.stop());
  const port = await freePorts(1);
  const url = `mqtt://127.0.0.1:${port}`;
  const first = await startPlantBroker(port);
  const before = await openHost(url);
  const sparkplug = { groupId: "plant", nodeId: "fleet", json: false };
  const mqtt = { broker: url, protocolVersion: 4, sparkplug };
  const config = await writeConfiguration(folder, "sparkplug", simulator.endpoints, [id], url, { mqtt });
  let gateway = await startHere(config);
  cleanups.push(() => gateway.stop());

  await before.on("DBIRTH", id);
  expect(before.values(id).get("Info/RobotId")?.value).toBe(id);
  await vi.waitFor(() => expect(before.values("").get("Gateway/FleetLinkUp")?.value).toBe(true), 10_000);
  const number = bdSeqOf(await before.on("NBIRTH"));
  await before.client.endAsync(true);
  await first.close();

  simulator.control.startMission(id, "touchscreen", mission);
  await vi.waitFor(() => expect(gateway.said()).toContain("connection lost"), 10_000);
  await vi.waitFor(() => expect(JSON.stringify(simulator.control.record(0))).toContain('"to":"succeeded"'), {
    ...{ timeout: 30_000, interval: 50 },
  });
  const second = await startPlantBroker(port);
  cleanups.push(() => second.close());
  const after = await openHost(url);
  cleanups.push(() => after.client.endAsync(true));
  const past = () => after.seen.filter(({ metrics }) => metrics.some(({ isHistorical }) => isHistorical));
  await after.receive(() => past().some(({ metrics }) => wordOf(metrics).includes("STATE_SUCCEEDED")));
  expect(
    past()
      .flatMap(({ metrics }) => wordOf(metrics))
      .slice(-2),
  ).toEqual(["STATE_RUNNING", "STATE_SUCCEEDED"]);
  expect(after.values(id).get("Mission/State")?.value).toBe("STATE_SUCCEEDED");
  const types = after.seen.map(({ type }) => type);
  expect(types.indexOf("DDATA")).toBeGreaterThan(types.lastIndexOf("DBIRTH"));
  expect(bdSeqOf(await after.on("NBIRTH"))).toBeGreaterThan(number);

  await gateway.stop();
  await after.on("NDEATH");
  gateway = await startHere(config);
  const births = () => after.seen.filter(({ type }) => type === "NBIRTH");
  await after.receive(() => births().length === 2);
  const [one, two] = births().map(bdSeqOf);
  expect(two).toBe((one ?? 0) + 1);
});
