import type { EmbeddedBrokerOptions, ExternalBrokerOptions } from "../northbound/mqtt/options.ts";
import type { OpcUaOptions } from "../northbound/opcua/options.ts";
import { configHash } from "./config-hash.ts";
import { createKeptEntries, createKeptMap, type Kept } from "./kept-entries.ts";
import type { Config } from "./load.ts";

/** A configuration of which some values can be replaced while it is in use. */
export interface LiveConfig {
  /**
   * What the gateway is made of. What a reload can change is read through it at each use; so everybody sees
   * a new configuration from the same moment on. Its lists stay the same objects.
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
  const lists: Kept[] = [];
  return {
    config: viewOf(first, () => now, lists),
    now: () => now,
    hash: () => hash,
    replace(next) {
      now = next;
      hash = configHash(next);
      for (const list of lists) list.follow();
    },
  };
}

/** @param lists gets the lists that are to follow when another configuration is put in place */
function viewOf(first: Config, now: () => Config, lists: Kept[]): Config {
  const stations = createKeptEntries(
    () => now().stations,
    ({ name }) => name,
    stationView,
  );
  lists.push(stations);
  return {
    ...first,
    opcua: opcUaView(first.opcua, now, lists),
    mqtt: mqttView(first.mqtt, now),
    web: webView(first.web, now),
    get certificates() {
      return now().certificates;
    },
    dispatcher: {
      ...first.dispatcher,
      get rights() {
        return now().dispatcher.rights;
      },
      get accounts() {
        return now().dispatcher.accounts;
      },
    },
    stations: stations.entries,
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

function opcUaView(first: Config["opcua"], now: () => Config, lists: Kept[]): Config["opcua"] {
  if (first === null) return null;
  const found = () => now().opcua ?? first;
  const stations = createKeptEntries(
    () => found().stations,
    ({ name }) => name,
    stationNodeView,
  );
  const destinations = createKeptMap(() => found().destinations);
  const robots = createKeptEntries(
    () => found().robots,
    ({ robotId }) => robotId,
    (robot) => robot,
  );
  lists.push(stations, destinations, robots);
  return {
    ...first,
    get users() {
      return now().opcua?.users ?? [];
    },
    get certificate() {
      return found().certificate;
    },
    get authorities() {
      return found().authorities;
    },
    destinations: destinations.map,
    robots: robots.entries,
    stations: stations.entries,
  };
}

function mqttView(first: Config["mqtt"], now: () => Config): Config["mqtt"] {
  if (first === null) return null;
  const { broker } = first;
  return {
    ...first,
    broker: broker.kind === "embedded" ? embeddedView(broker, now) : externalView(broker, now),
    get placement() {
      return (now().mqtt ?? first).placement;
    },
  };
}

function embeddedView(first: EmbeddedBrokerOptions, now: () => Config): EmbeddedBrokerOptions {
  return {
    ...first,
    get users() {
      const found = now().mqtt?.broker;
      return found?.kind === "embedded" ? found.users : [];
    },
    get tls() {
      const found = now().mqtt?.broker;
      return found?.kind === "embedded" ? found.tls : first.tls;
    },
  };
}

function externalView(first: ExternalBrokerOptions, now: () => Config): ExternalBrokerOptions {
  const found = () => {
    const broker = now().mqtt?.broker;
    return broker?.kind === "external" ? broker : first;
  };
  return {
    ...first,
    get ca() {
      return found().ca;
    },
    get clientCert() {
      return found().clientCert;
    },
    get tlsPaths() {
      return found().tlsPaths;
    },
  };
}

function webView(first: Config["web"], now: () => Config): Config["web"] {
  if (first === null) return null;
  return {
    ...first,
    get tls() {
      return (now().web ?? first).tls;
    },
    get access() {
      return (now().web ?? first).access;
    },
    get floor() {
      return (now().web ?? first).floor;
    },
  };
}

type Station = Config["stations"][number];

function stationView(first: Station, found: () => Station): Station {
  return {
    ...first,
    get destinations() {
      return found().destinations;
    },
    get users() {
      return found().users;
    },
    get heartbeatMs() {
      return found().heartbeatMs;
    },
    get maxRunMs() {
      return found().maxRunMs;
    },
    get maxRunMsOf() {
      return found().maxRunMsOf;
    },
  };
}

type StationNode = OpcUaOptions["stations"][number];

function stationNodeView(first: StationNode, found: () => StationNode): StationNode {
  return {
    ...first,
    get load() {
      return found().load;
    },
  };
}
