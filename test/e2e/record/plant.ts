import { defaultScenario, type Scenario } from "../../../src/simulator/scenario/scenario.ts";
import type { fleetSection } from "../../support/simulator.ts";

const robotIds = ["cart-01", "cart-03", "serve-01"];

/** The plant of the record: two carts, the second with little charge, and a serve robot. */
export function recordScenario(): Scenario {
  const scenario = defaultScenario();
  const { world } = scenario;
  return { ...scenario, world: { ...world, robots: world.robots.filter(({ id }) => robotIds.includes(id)) } };
}

/** The configuration file, with the ports from `port` on. */
export function configuration(fleet: ReturnType<typeof fleetSection>, broker: string, port: number) {
  return {
    gateway: { id: "record", dataDir: "gateway" },
    fleet: { ...fleet, robotNumbers: { "cart-01": 101, "cart-03": 103, "serve-01": 201 } },
    mqtt: {
      broker,
      protocolVersion: 5,
      tags: true,
      commands: { brokerEnforcesClientNames: true, requireExpiry: false },
    },
    opcua: {
      listen: { host: "127.0.0.1", port },
      insecureLoopback: { role: "observer" },
      robots: {
        "cart-01": { alias: "AMR01", number: 1, conveyors: [1, 2] },
        "cart-03": { number: 2, conveyors: [1, 2, 3] },
      },
      destinations: { 1: "Station D", 2: "Station C" },
    },
    commands: { callDeadlineMs: 11_000, evidenceMs: 3_000 },
    web: { listen: { host: "127.0.0.1", port: port + 1 } },
    stations: { dock: { destinations: ["Station D"], clients: ["scada"], heartbeatMs: 60_000 } },
    rights: ["mqtt", "web", "cli"].map((protocol) => ({ source: { protocol, name: "*" }, role: "engineer" })),
  };
}
