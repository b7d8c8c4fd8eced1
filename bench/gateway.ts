import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import type { Child } from "./child.ts";
import { daemonScript, freePorts, type House, plantNodeOptions } from "./house.ts";

/** What a section says of the gateway that it measures; everything else is the product's default. */
export interface GatewayWishes {
  readonly id: string;
  /** The `fleet` section. */
  readonly fleet: object;
  readonly mqttPort: number;
  /** Whether the gateway's own broker listens there, for these clients, instead of one of the plant; each one's password is its name. */
  readonly brokerUsers?: readonly string[];
  /** Who may command; nobody without it. */
  readonly rights?: readonly object[];
}

/** The gateway under test. */
export interface Gateway {
  readonly child: Child;
  readonly opcuaPort: number;
  /** Its health, as it says itself. */
  health(): Promise<GatewayHealth>;
}

export interface GatewayHealth {
  readonly state: string;
  readonly components: Readonly<
    Record<string, { readonly state: string; readonly figures?: Readonly<Record<string, number>> }>
  >;
}

/** Starts the built daemon with MQTT, OPC UA and the web page on. It may not be connected yet. */
export async function startGateway(house: House, wishes: GatewayWishes): Promise<Gateway> {
  const opcuaPort = await freePorts();
  const webPort = opcuaPort + 1;
  const path = join(house.folder, `${wishes.id}.yaml`);
  const document = {
    gateway: { id: wishes.id, dataDir: dataFolder(house, wishes.id) },
    log: { level: "warn" },
    fleet: wishes.fleet,
    mqtt: mqttSection(house, wishes),
    opcua: { listen: { port: opcuaPort }, insecureLoopback: {} },
    web: { listen: { port: webPort } },
    ...(wishes.rights === undefined ? {} : { rights: wishes.rights }),
  };
  writeFileSync(path, stringify(document, { aliasDuplicateObjects: false }));
  const child = house.start("gateway", daemonScript, ["run", "--config", path], {
    nodeOptions: [
      ...plantNodeOptions,
      ...(house.profiles === null ? [] : ["--cpu-prof", `--cpu-prof-dir=${house.profiles}`]),
    ],
  });
  return {
    child,
    opcuaPort,
    async health() {
      const response = await fetch(`http://127.0.0.1:${webPort}/healthz`);
      return (await response.json()) as GatewayHealth;
    },
  };
}

function mqttSection(house: House, { mqttPort, brokerUsers }: GatewayWishes): object {
  if (brokerUsers === undefined) {
    return {
      broker: `mqtt://127.0.0.1:${mqttPort}`,
      protocolVersion: 4,
      commands: { brokerEnforcesClientNames: true },
    };
  }
  const users = brokerUsers.map((name) => {
    const password = join(house.folder, `password-${name}`);
    writeFileSync(password, name, { mode: 0o600 });
    return [name, { password }] as const;
  });
  return { broker: "embedded", listen: { port: mqttPort }, users: Object.fromEntries(users) };
}

/** Where a gateway keeps its journal. */
export function dataFolder(house: House, id: string): string {
  return join(house.folder, `data-${id}`);
}
