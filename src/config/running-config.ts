import type { EmbeddedBrokerOptions, ExternalBrokerOptions } from "../northbound/mqtt/options.ts";
import type { OpcUaOptions } from "../northbound/opcua/options.ts";
import type { Live } from "../platform/live.ts";
import { createKeptEntries, createKeptMap, type Kept } from "./kept-entries.ts";
import type { Config, RunningConfig } from "./load.ts";
import { runningMqtt } from "./sections/mqtt.ts";
import { runningWeb } from "./sections/web.ts";

/** What the gateway is made of. Its lists stay the same objects. */
export function runningConfig(live: Live<Config>): RunningConfig {
  const lists: Kept[] = [];
  live.onChange(() => {
    for (const list of lists) list.follow();
  });
  return viewOf(live, lists);
}

/** @param lists gets the lists that are to follow when another configuration is put in place */
function viewOf(live: Live<Config>, lists: Kept[]): RunningConfig {
  const { now } = live;
  const first = now();
  const stations = createKeptEntries(
    () => now().stations,
    ({ name }) => name,
    stationView,
  );
  lists.push(stations);
  return {
    ...first,
    opcua: opcUaView(first.opcua, now, lists),
    mqtt: mqttView(first.mqtt, live),
    web: sectionOf(live, ({ web }) => web, runningWeb),
    certificates: live.pick(({ certificates }) => certificates),
    rights: live.pick(({ rights }) => rights),
    stations: stations.entries,
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

function mqttView(first: Config["mqtt"], live: Live<Config>): RunningConfig["mqtt"] {
  const section = sectionOf(live, ({ mqtt }) => mqtt, runningMqtt);
  if (first === null || section === null) return null;
  const { now } = live;
  const { broker } = first;
  return {
    ...section,
    broker: broker.kind === "embedded" ? embeddedView(broker, now) : externalView(broker, now),
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
