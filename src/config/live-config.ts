import { configHash } from "./config-hash.ts";
import type { Config } from "./load.ts";

/** A configuration of which some values can be replaced while it is in use. */
export interface LiveConfig {
  /**
   * What the gateway is made of. What a reload can change is read through it at each use; so everybody sees
   * a new configuration from the same moment on.
   */
  readonly config: Config;
  /** What holds now, as it was read. */
  now(): Config;
  /** `configHash` of what holds now. */
  hash(): string;
  /** Puts another in its place. Only what a reload can change may differ. */
  replace(next: Config): void;
}

export function createLiveConfig(first: Config): LiveConfig {
  let now = first;
  let hash = configHash(first);
  return {
    config: viewOf(first, () => now),
    now: () => now,
    hash: () => hash,
    replace(next) {
      now = next;
      hash = configHash(next);
    },
  };
}

function viewOf(first: Config, now: () => Config): Config {
  return {
    ...first,
    opcua: opcUaView(first.opcua, now),
    mqtt: mqttView(first.mqtt, now),
    dispatcher: {
      ...first.dispatcher,
      get rights() {
        return now().dispatcher.rights;
      },
      get accounts() {
        return now().dispatcher.accounts;
      },
    },
    stations: first.stations.map((station) => stationView(station, now)),
    alarms: {
      battery: {
        get low() {
          return now().alarms.battery.low;
        },
        get critical() {
          return now().alarms.battery.critical;
        },
      },
    },
  };
}

function opcUaView(first: Config["opcua"], now: () => Config): Config["opcua"] {
  if (first === null) return null;
  return {
    ...first,
    get users() {
      return now().opcua?.users ?? [];
    },
  };
}

function mqttView(first: Config["mqtt"], now: () => Config): Config["mqtt"] {
  if (first === null || first.broker.kind !== "embedded") return first;
  const broker: typeof first.broker = {
    ...first.broker,
    get users() {
      const found = now().mqtt?.broker;
      return found?.kind === "embedded" ? found.users : [];
    },
  };
  return { ...first, broker };
}

function stationView(first: Config["stations"][number], now: () => Config): typeof first {
  const found = () => now().stations.find(({ name }) => name === first.name) ?? first;
  return {
    ...first,
    get users() {
      return found().users;
    },
    get heartbeatMs() {
      return found().heartbeatMs;
    },
  };
}
