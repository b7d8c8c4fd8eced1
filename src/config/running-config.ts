import type { Live } from "../platform/live.ts";
import type { Config, RunningConfig } from "./load.ts";
import { runningMqtt } from "./sections/mqtt.ts";
import { runningOpcUa } from "./sections/opcua.ts";
import { runningWeb } from "./sections/web.ts";

/** What the gateway is made of: the first configuration, and of the live values the one that holds now. */
export function runningConfig(live: Live<Config>): RunningConfig {
  return {
    ...live.now(),
    log: { level: live.pick(({ log }) => log.level) },
    mqtt: sectionOf(live, ({ mqtt }) => mqtt, runningMqtt),
    opcua: sectionOf(live, ({ opcua }) => opcua, runningOpcUa),
    web: sectionOf(live, ({ web }) => web, runningWeb),
    certificates: live.pick(({ certificates }) => certificates),
    rights: live.pick(({ rights }) => rights),
    stations: live.pick(({ stations }) => stations),
    alarms: { battery: live.pick(({ alarms }) => alarms.battery) },
  };
}

/** A section; null: the file has none. A reload neither adds nor removes one. */
function sectionOf<T, U>(
  live: Live<Config>,
  of: (config: Config) => T | null,
  make: (section: Live<T>) => U,
): U | null {
  const first = of(live.now());
  return first === null ? null : make(live.pick((config) => of(config) ?? first));
}
