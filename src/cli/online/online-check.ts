import { lookup } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { access, constants } from "node:fs/promises";
import { createServer, isIP } from "node:net";
import { dirname } from "node:path";
import type { Config } from "../../config/load.ts";
import { runningMqtt } from "../../config/sections/mqtt.ts";
import { type Settings, sharedSections } from "../../config/settings.ts";
import { brokersOf } from "../../northbound/mqtt/options.ts";
import { type Clock, within } from "../../platform/clock.ts";
import { connectFaultOf } from "../../platform/connect-fault.ts";
import { freeBytes } from "../../platform/disk-health.ts";
import { isCode, messageOf } from "../../platform/error-text.ts";
import { folderFault } from "../../platform/folder.ts";
import { folderHolder } from "../../platform/folder-lock.ts";
import { listenCode, refusalAdvice } from "../../platform/listener.ts";
import { createLive } from "../../platform/live.ts";
import { LEAST_FREE_BYTES } from "../../platform/store.ts";
import { tryPlantBroker } from "./broker.ts";
import { type Endpoint, endpointsOf, ok, type Part, skipped, TRY_MS, wrong } from "./endpoints.ts";
import { tryEtcd } from "./etcd.ts";
import { clockPart, tryKey, tryMissions, tryWire, type Wire } from "./service.ts";

export interface OnlineParts {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The values of the configuration; absent: the other box's are not compared with them. */
  readonly settings?: Settings;
  /** Whether root checks for the systemd unit. */
  readonly isForUnit: boolean;
  /** Called with each part as soon as it is known, in order. */
  readonly report: (part: Part) => void;
}

/**
 * Tries everything that the gateway will need, part by part. Parts that depend on a failed one are not tried.
 * Sends no command to a robot, and writes nothing.
 *
 * @returns every part
 */
export async function checkOnline(config: Config, parts: OnlineParts): Promise<readonly Part[]> {
  const { clock, signal } = parts;
  const all: Part[] = [];
  const report = (...found: readonly Part[]) => {
    for (const part of found) {
      all.push(part);
      parts.report(part);
    }
  };
  const { dataDir } = config.gateway;
  const holder = await runningGateway(dataDir);
  report(gatewayPart(dataDir, holder));

  const endpoints = endpointsOf(config);
  const names = await Promise.all(endpoints.map((endpoint) => tryName(endpoint, clock.nowMs(), signal)));
  report(...names);
  const wires = await Promise.all(
    endpoints.map((endpoint, index): Promise<Wire> => {
      if (names[index]?.state !== "wrong") return tryWire(endpoint, config, clock, signal);
      const part = skipped(`connection ${endpoint.key}`, "its name is not known");
      return Promise.resolve({ part, skewMs: null });
    }),
  );
  report(clockPart(wires.find(({ skewMs }) => skewMs !== null)?.skewMs ?? null));
  report(...wires.map(({ part }) => part));

  const isThere = (key: string) => {
    const index = endpoints.findIndex((endpoint) => endpoint.key === key);
    return index < 0 || wires[index]?.part.state === "ok";
  };
  await tryService(config, isThere, parts, report);
  await tryBrokers(
    config,
    endpoints.filter(({ key }) => isThere(key)),
    parts,
    report,
  );
  if (config.cluster !== null) {
    const sections = parts.settings === undefined ? null : sharedSections(parts.settings);
    report(...(await tryEtcd(config.cluster, sections, isThere, clock)));
  }
  report(...(await tryListeners(config, typeof holder === "string", parts.isForUnit)));
  report(await tryDisk(dataDir));
  return all;
}

/** Every broker of the plant, one after the other. */
async function tryBrokers(
  { mqtt, sparkplug }: Config,
  reached: readonly Endpoint[],
  { clock, signal }: OnlineParts,
  report: (...parts: readonly Part[]) => void,
): Promise<void> {
  const brokers = mqtt === null ? [] : brokersOf(runningMqtt(createLive(mqtt)));
  for (const options of brokers) {
    if (options.broker.kind === "embedded") return;
    const { setting } = options.broker;
    const endpoint = reached.find(({ key }) => key === setting);
    const found =
      endpoint === undefined
        ? [skipped("broker", "there is no connection to it")]
        : await tryPlantBroker(options, sparkplug, options.broker, endpoint, clock, signal);
    const suffix = brokers.length === 1 ? "" : ` (${setting})`;
    report(...found.map((part) => ({ ...part, part: `${part.part}${suffix}` })));
  }
}

/** Token, then stream. */
async function tryService(
  config: Config,
  isThere: (key: Endpoint["key"]) => boolean,
  { clock, signal }: OnlineParts,
  report: (part: Part) => void,
): Promise<void> {
  const { authUrl, httpsUrl } = config.fleet;
  const authKey = new URL(authUrl).origin === new URL(httpsUrl).origin ? "fleet.https" : "fleet.authUrl";
  if (!isThere(authKey)) report(skipped("token", `there is no connection to ${authKey}`));
  const key = isThere(authKey) ? await tryKey(config, clock, signal) : null;
  if (key !== null) report(key.part);
  const jwt = key?.jwt ?? null;
  if (!isThere("fleet.grpc.address"))
    report(skipped("stream", "there is no connection to fleet.grpc.address"));
  else if (jwt === null) report(skipped("stream", "there is no token"));
  else report(await tryMissions(config, jwt, clock, signal));
}

/** Resolves the name of one endpoint, as the gateway would. */
async function tryName(endpoint: Endpoint, nowMs: number, signal: AbortSignal): Promise<Part> {
  const { key, host, isBehindProxy } = endpoint;
  const part = `name ${key}`;
  if (isIP(host) !== 0) return ok(part, `${host} is an address`);
  if (isBehindProxy) return skipped(part, `the proxy resolves ${host}`);
  try {
    const found = await within(signal, TRY_MS, (bounded) =>
      Promise.race([lookup(host, { all: true }), late(bounded)]),
    );
    return ok(part, `${host} is ${found.map(({ address }) => address).join(", ")}`);
  } catch (error) {
    const { what, advice } = connectFaultOf(error, endpoint, nowMs);
    return wrong(part, what, advice);
  }
}

function late(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const giveUp = () => reject(Object.assign(new Error("no answer"), { code: "EAI_AGAIN" }));
    signal.addEventListener("abort", giveUp, { once: true });
  });
}

/** A good moment to act (docs/troubleshoot.md, The disk is full or fails). */
const GOOD_FREE_BYTES = 100_000_000;
const MEGABYTE = 1_000_000;

/** The process of the gateway on this data folder; null: none runs; undefined: it cannot be read. */
async function runningGateway(dataDir: string): Promise<string | null | undefined> {
  try {
    return await folderHolder(dataDir);
  } catch {
    return undefined;
  }
}

function gatewayPart(dataDir: string, holder: string | null | undefined): Part {
  const part = "gateway";
  if (holder === undefined)
    return skipped(
      part,
      `this user may not look whether a gateway runs on ${dataDir}`,
      "run this check as root, or as the gateway's own user",
    );
  if (holder === null) return ok(part, `none runs on ${dataDir}`);
  return ok(part, `process ${holder} runs on ${dataDir}; this check leaves it alone`);
}

/** Whether the data folder can be written, and its free space. Writes nothing. */
async function tryDisk(dataDir: string): Promise<Part> {
  const part = "disk gateway.dataDir";
  const fault = await writeFault(dataDir);
  if (fault !== null) return wrong(part, `${dataDir} cannot be used`, fault);
  const free = freeBytes(dataDir);
  if (free === null) return skipped(part, `the file system of ${dataDir} does not say how much is free`);
  const megabytes = `${Math.floor(free / MEGABYTE)} MB are free for ${dataDir}`;
  if (free < LEAST_FREE_BYTES)
    return wrong(part, megabytes, "make room: below 8 MB nothing but stops is sent to robots");
  if (free < GOOD_FREE_BYTES) return wrong(part, megabytes, "make room soon: 100 MB is a good moment to act");
  return ok(part, megabytes);
}

/** Why this user cannot write in the folder, or in the nearest existing one above it; null: it can. */
async function writeFault(folder: string): Promise<string | null> {
  try {
    await access(folder, constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    if (isCode(error, "ENOENT") && dirname(folder) !== folder) return writeFault(dirname(folder));
    return error instanceof Error ? folderFault(folder, error) : messageOf(error);
  }
}

interface Listener {
  /** The section, as `web`. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

/** Every port of the gateway. */
function listenersOf({ fleet, mqtt, opcua, web }: Config): readonly Listener[] {
  return [
    ...(fleet.events.kind === "webhook" ? [{ name: "fleet.events", ...fleet.events.webhook.listen }] : []),
    ...(mqtt?.broker.kind === "embedded"
      ? [{ name: "mqtt", host: mqtt.broker.host, port: mqtt.broker.port }]
      : []),
    ...(opcua === null ? [] : [{ name: "opcua", host: opcua.host, port: opcua.port }]),
    ...(web === null ? [] : [{ name: "web", ...web.listen }]),
  ];
}

/**
 * Listens for a moment on each port of the gateway.
 *
 * @param isRunning whether the gateway itself runs, and has the ports
 * @param isForUnit whether root tries for the service, which has fewer rights
 */
async function tryListeners(
  config: Config,
  isRunning: boolean,
  isForUnit: boolean,
): Promise<readonly Part[]> {
  const parts: Part[] = [];
  for (const listener of listenersOf(config)) parts.push(await tryListener(listener, isRunning, isForUnit));
  return parts;
}

async function tryListener(listener: Listener, isRunning: boolean, isForUnit: boolean): Promise<Part> {
  const { name, host, port } = listener;
  const part = `port ${name}.listen`;
  const where = `${host}, port ${port}`;
  if (port === 0) return skipped(part, "0 takes any free port");
  const option = `${name}.listen.port`;
  const fault = await listenFault(listener);
  if (fault === null) {
    if (isForUnit && port < lowestFreePort())
      return wrong(
        part,
        `${where} is free, and not for the user fleetgate`,
        refusalAdvice("EACCES", port, option),
      );
    return ok(part, `${where} is free`);
  }
  const code = listenCode(fault);
  if (code === "EADDRINUSE" && isRunning)
    return ok(part, `${where} is in use, as it should be while the gateway runs`);
  const advice = code === null ? `choose another ${name}.listen` : refusalAdvice(code, port, option);
  return wrong(part, `${where}: ${fault.message}`, advice);
}

/** Listens for a moment. Resolves with the error; null: it is possible. */
function listenFault({ host, port }: Listener): Promise<Error | null> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error) => resolve(error));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

const USUAL_LOWEST = 1_024;

/** Lower ports need a privilege. */
function lowestFreePort(): number {
  try {
    return Number(readFileSync("/proc/sys/net/ipv4/ip_unprivileged_port_start", "utf8"));
  } catch {
    return USUAL_LOWEST;
  }
}
