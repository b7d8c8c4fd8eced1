import { stringify } from "yaml";

/** The ports of the demo: counted from its base port, or the usual ones of the protocols. */
export interface DemoPorts {
  readonly grpc: number;
  readonly https: number;
  readonly mqtt: number;
  readonly opcua: number;
  readonly web: number;
}

/** The default ports of the protocols' clients. */
export const usualPorts: DemoPorts = { grpc: 7443, https: 7444, mqtt: 1883, opcua: 4840, web: 8080 };

/** Five ports in a row. */
export function portsFrom(base: number): DemoPorts {
  return { grpc: base, https: base + 1, mqtt: base + 2, opcua: base + 3, web: base + 4 };
}

/**
 * The demo's configuration as a file, which `fleetgate run` accepts too. It opens everything to programs of
 * this machine, and says so. It contains only addresses, because a machine without /etc/hosts cannot resolve
 * `localhost`.
 */
export function demoConfig(demo: {
  readonly dataDir: string;
  readonly ports: DemoPorts;
  readonly ca: string;
  readonly credentials: string;
  readonly locations: readonly string[];
}): string {
  const { ports } = demo;
  const everyone = (protocol: string) => ({ source: { protocol: protocol, name: "*" }, role: "engineer" });
  const file = stringify({
    gateway: { id: "demo", dataDir: demo.dataDir },
    log: { level: "warn" },
    fleet: {
      grpc: { address: `127.0.0.1:${ports.grpc}` },
      https: `https://127.0.0.1:${ports.https}`,
      ca: demo.ca,
      credentials: demo.credentials,
      locations: demo.locations,
    },
    mqtt: {
      broker: "embedded",
      listen: { host: "127.0.0.1", port: ports.mqtt },
      anonymousLoopback: true,
      tags: true,
      commands: { requireExpiry: false },
    },
    opcua: {
      listen: { host: "127.0.0.1", port: ports.opcua },
      hostname: "127.0.0.1",
      insecureLoopback: { role: "engineer" },
      destinations: { 1: "Station A", 2: "Station B", 3: "Station C", 4: "Station D" },
    },
    web: { listen: { host: "127.0.0.1", port: ports.web } },
    stations: { dock: { destinations: ["Station A"] } },
    commands: { drainMs: 1_000 },
    rights: ["mqtt", "opcua", "web", "cli"].map(everyone),
  });
  return `# Written by fleetgate demo at each start. INSECURE: every program of this machine may read and command.\n${file}`;
}
