import { readFileSync } from "node:fs";
import type { Config } from "../../config/load.ts";
import { listenCode, refusalAdvice } from "../../platform/port-taken.ts";
import { listenFault } from "../../platform/start-retry.ts";
import { ok, type Part, skipped, wrong } from "./part.ts";

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
export async function tryListeners(
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

const USUAL_LOWEST = 1_024;

/** Lower ports need a privilege. */
function lowestFreePort(): number {
  try {
    return Number(readFileSync("/proc/sys/net/ipv4/ip_unprivileged_port_start", "utf8"));
  } catch {
    return USUAL_LOWEST;
  }
}
