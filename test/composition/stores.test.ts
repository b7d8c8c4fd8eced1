import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { prepareStores, type Stores } from "../../src/composition/stores.ts";
import type { Config } from "../../src/config/load.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { type Log, silentLog } from "../../src/platform/log.ts";
import { confirmLosses } from "../../src/platform/stores/kept-store.ts";
import { type ConfigFolder, createConfigFolder, minimal } from "../config/config-folder.ts";
import { noRunningTime } from "../support/no-running-time.ts";
import { alarmEvent } from "../support/test-alarms.ts";

const opcua = "opcua: { insecureLoopback: {} }\n";

let folder: ConfigFolder;
let config: Config;
beforeEach(async () => {
  folder = await createConfigFolder();
  config = await folder.config(`${minimal}${opcua}`);
});
afterEach(() => folder[Symbol.asyncDispose]());

const parts = { clock: systemClock, time: noRunningTime, log: silentLog };

/** Puts a file into the data folder, with the folders above it. */
function put(...names: readonly string[]): void {
  putJson(names, {});
}

function putJson(names: readonly string[], json: object): void {
  const path = join(config.gateway.dataDir, ...names);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, JSON.stringify(json));
}

async function close({ journal, tables }: Stores): Promise<void> {
  await journal?.close();
  await tables.close();
}

/** The stores that a start finds lost. */
async function lostAtStart(): Promise<string> {
  mkdirSync(config.gateway.dataDir, { recursive: true });
  const stores = await prepareStores(config, parts);
  await close(stores);
  expect(stores.areRecordsLost).toBe(stores.health().state === "degraded");
  return stores.health().detail ?? "";
}

it("a first start loses nothing, nor does the second", async () => {
  expect(await lostAtStart()).toBe("");
  expect(await lostAtStart()).toBe("");
});

it("certificates of OPC UA clients may be there before the first start", async () => {
  put("opcua", "server", "trusted", "certs", "plc.pem");
  put("opcua", "server", "issuers", "crl", "plant.pem");
  expect(await lostAtStart()).toBe("");
});

it.each([
  ["another folder", ["fleet", "token-requests.json"]],
  ["the key of the OPC UA server", ["opcua", "server", "own", "key.pem"]],
  ["the register of robots", ["opcua", "robots.json"]],
])("without its journal, a folder with %s is one that has lost it", async (_what, names) => {
  put("opcua", "server", "trusted", "certs", "plc.pem");
  put(...names);
  expect(await lostAtStart()).toMatch(/^the store "journal" is lost .*data\.mdb is missing/);
});

it("a backup without journal and tickets begins as after a loss, until an operator confirms it", async () => {
  put("opcua", "server", "own", "key.pem");
  put("opcua", "robots.json");
  expect(await lostAtStart()).toMatch(/"journal" is lost .*; the store "slots" is lost/);
  expect(await lostAtStart()).toMatch(/"journal" is lost .*; the store "slots" is lost/);
  expect(confirmLosses(config.gateway.dataDir)).toHaveLength(2);
  expect(await lostAtStart()).toBe("");
  rmSync(join(config.gateway.dataDir, "journal"), { recursive: true });
  expect(await lostAtStart()).not.toBe("");
});

it("a gateway of a cluster has lost no tickets: the members share theirs", async () => {
  const members = `{ a: { opcuaUri: "urn:a" }, b: { opcuaUri: "urn:b" } }`;
  const etcd = `{ endpoints: ["127.0.0.1:1", "[::1]:2", "localhost:3"] }`;
  const cluster = `cluster: { name: hall, member: a, members: ${members}, etcd: ${etcd} }\n`;
  config = await folder.config(`${minimal}${opcua}${cluster}`);
  put("opcua", "server", "own", "key.pem");
  expect(await lostAtStart()).toBe("");
});

it("an outbox that cannot be read begins empty, and is named", async () => {
  config = await folder.config(`${minimal}mqtt: { broker: embedded }\n`);
  mkdirSync(config.gateway.dataDir, { recursive: true });
  async function start(): Promise<string> {
    const stores = await prepareStores(config, parts);
    const outbox = await stores.openOutbox("s1");
    const stop = new AbortController();
    const ran = outbox?.run(stop.signal, () => {});
    outbox?.push(alarmEvent("e1", "r1"));
    const published = `${outbox?.length} ${stores.health().detail ?? ""}`;
    stop.abort();
    await ran;
    await close(stores);
    return published;
  }
  expect(await start()).toBe("1 ");
  expect(await start()).toBe("2 ");
  writeFileSync(join(config.gateway.dataDir, "outbox", "data.mdb"), "");
  expect(await start()).toMatch(/^1 the store "outbox" is lost since .*kept as /);
});

it("an outbox whose folder is missing is named, if MQTT has run here", async () => {
  config = await folder.config(`${minimal}mqtt: { broker: "mqtt://localhost" }\n`);
  expect(await lostAtStart()).toBe("");
  rmSync(join(config.gateway.dataDir, "outbox"), { recursive: true });
  expect(await lostAtStart(), "MQTT may be new").toBe("");
  putJson(["tables.json"], { brokers: { any: { rules: "", chains: "", sessions: [] } } });
  expect(await lostAtStart()).toBe("");
  rmSync(join(config.gateway.dataDir, "outbox"), { recursive: true });
  const stores = await prepareStores(config, parts);
  expect(stores.health().detail).toMatch(/the store "outbox" is lost since .*data.mdb is missing/);
  await close(stores);
  expect(await lostAtStart(), "it is said once").toBe("");
});

it("an outbox whose folder is removed while it is open keeps its events, and says so", async () => {
  config = await folder.config(`${minimal}mqtt: { broker: embedded }\n`);
  mkdirSync(config.gateway.dataDir, { recursive: true });
  const said: string[] = [];
  const log: Log = { ...silentLog, error: (_fields, message) => void said.push(message), child: () => log };
  const waiting: number[] = [];
  for (const isRemoved of [true, false]) {
    const stores = await prepareStores(config, { ...parts, log });
    const outbox = await stores.openOutbox("s1");
    if (outbox === null) throw new Error("there is no outbox");
    const stop = new AbortController();
    const ran = outbox.run(stop.signal, () => {});
    waiting.push(outbox.length);
    for (const eventId of ["e1", "e2"]) {
      const settled = new Promise<void>((resolve) => outbox.onReady(resolve));
      outbox.push(alarmEvent(eventId, "r1"));
      await settled;
      if (isRemoved) rmSync(join(config.gateway.dataDir, "outbox"), { recursive: true, force: true });
    }
    stop.abort();
    await ran;
    await close(stores);
  }
  expect(waiting).toEqual([0, 2]);
  expect(new Set(said)).toEqual(
    new Set(["somebody has removed the files of the outbox: its events are written again, none is lost"]),
  );
});
