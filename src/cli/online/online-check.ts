import type { Config } from "../../config/load.ts";
import { runningMqtt } from "../../config/sections/mqtt.ts";
import { brokersOf } from "../../northbound/mqtt/options.ts";
import type { Clock } from "../../platform/clock.ts";
import { createLive } from "../../platform/live.ts";
import { tryPlantBroker } from "./broker.ts";
import { type Endpoint, endpointsOf } from "./endpoints.ts";
import { tryListeners } from "./listeners.ts";
import { gatewayPart, runningGateway, tryDisk } from "./machine.ts";
import { tryName } from "./names.ts";
import { type Part, skipped } from "./part.ts";
import { clockPart, tryKey, tryMissions } from "./service.ts";
import { tryWire, type Wire } from "./wires.ts";

export interface OnlineParts {
  readonly clock: Clock;
  readonly signal: AbortSignal;
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
  report(...(await tryListeners(config, typeof holder === "string", parts.isForUnit)));
  report(await tryDisk(dataDir));
  return all;
}

/** Every broker of the plant, one after the other. */
async function tryBrokers(
  { mqtt }: Config,
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
        : await tryPlantBroker(options, options.broker, endpoint, clock, signal);
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
