import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { type Build, ownBuild } from "./build.ts";
import type { Child } from "./child.ts";
import { freePorts, type SectionRun } from "./section-run.ts";

/** What a section says of the gateway that it measures; everything else is the product's default. */
export interface GatewayOptions {
  readonly id: string;
  /** Where its files are, beside those of others of this id; by the id without it. */
  readonly folder?: string;
  /** Further sections of its configuration. */
  readonly sections?: object;
  /** The `fleet` section. */
  readonly fleet: object;
  readonly mqttPort: number;
  /**
   * Whether the gateway's own broker listens there, for these clients, instead of one of the plant; each
   * one's password is its name.
   */
  readonly brokerUsers?: readonly string[];
  /** It is an edge node of Sparkplug with its id, with its JSON topics or without them. */
  readonly sparkplug?: { readonly groupId: string; readonly json: boolean };
  /** Whether every client of MQTT and of OPC UA may command robots; else nobody may. */
  readonly operators?: boolean;
  /** The build that is started; this tree's without it. */
  readonly build?: Build;
  /** The Node.js that runs it; the bench's own without it. */
  readonly program?: string;
  readonly logLevel?: "info" | "warn";
  /** Modules that it loads before its program. */
  readonly preload?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** The gateway under test. */
export interface Gateway {
  readonly id: string;
  readonly child: Child;
  readonly opcuaPort: number;
  /** Of its console. */
  readonly webUrl: string;
  /** Its control socket. */
  readonly socketPath: string;
  /** Its health, as it says itself. An answer costs CPU: ask rarely while that is measured. */
  health(): Promise<GatewayHealth>;
}

export interface GatewayHealth {
  readonly state: string;
  readonly components: Readonly<
    Record<string, { readonly state: string; readonly figures?: Readonly<Record<string, number>> }>
  >;
}

/** Starts the built daemon with MQTT, OPC UA and the web page on. It may not be connected yet. */
export async function startGateway(run: SectionRun, options: GatewayOptions): Promise<Gateway> {
  const build = options.build ?? ownBuild;
  const opcuaPort = await freePorts();
  const webPort = opcuaPort + 1;
  const name = options.folder ?? options.id;
  const path = join(run.folder, `${name}.yaml`);
  const document = {
    gateway: { id: options.id, dataDir: dataFolder(run, name) },
    log: { level: options.logLevel ?? "warn" },
    fleet: options.fleet,
    mqtt: mqttSection(run, options),
    opcua: {
      listen: { port: opcuaPort },
      insecureLoopback: options.operators === true ? { role: "operator" } : {},
    },
    web: { listen: { port: webPort } },
    ...(options.operators === true
      ? { rights: [{ source: { protocol: "mqtt", name: "*" }, role: "operator" }] }
      : {}),
    ...options.sections,
  };
  writeFileSync(path, stringify(document, { aliasDuplicateObjects: false }));
  const child = run.start("gateway", build.script, ["run", "--config", path], {
    ...(options.program === undefined ? {} : { program: options.program }),
    preload: options.preload ?? [],
    env: { ...build.env, ...options.env },
    nodeOptions: [
      ...build.nodeOptions,
      ...(run.profiles === null ? [] : ["--cpu-prof", `--cpu-prof-dir=${run.profiles}`]),
    ],
  });
  return {
    id: options.id,
    child,
    opcuaPort,
    webUrl: `http://127.0.0.1:${webPort}`,
    socketPath: join(dataFolder(run, name), "control.sock"),
    async health() {
      const response = await fetch(`http://127.0.0.1:${webPort}/healthz`);
      return (await response.json()) as GatewayHealth;
    },
  };
}

function mqttSection(run: SectionRun, { mqttPort, brokerUsers, sparkplug }: GatewayOptions): object {
  if (brokerUsers === undefined) {
    return {
      broker: `mqtt://127.0.0.1:${mqttPort}`,
      protocolVersion: 4,
      commands: { brokerEnforcesClientNames: true },
      ...(sparkplug === undefined ? {} : { sparkplug }),
    };
  }
  const users = brokerUsers.map((name) => {
    const password = join(run.folder, `password-${name}`);
    writeFileSync(password, name, { mode: 0o600 });
    return [name, { password }] as const;
  });
  return { broker: "embedded", listen: { port: mqttPort }, users: Object.fromEntries(users) };
}

/** Where a gateway keeps its journal. */
export function dataFolder(run: SectionRun, id: string): string {
  return join(run.folder, `data-${id}`);
}
