import { stringify } from "yaml";
import { type LoadAddress, robotIds } from "./protocol.ts";

/** The gateway's configuration for a run: its own defaults, but for the polls that the load service does not answer. */
export function gatewayConfig(run: {
  readonly folder: string;
  readonly address: LoadAddress;
  readonly credentials: string;
  readonly mqttPort: number;
  readonly opcuaPort: number;
  readonly robots: number;
}): string {
  const robots = robotIds(run.robots);
  return stringify(
    {
      gateway: { id: "gateway", dataDir: `${run.folder}/data` },
      log: { level: "warn" },
      fleet: {
        grpc: { address: `localhost:${run.address.grpcPort}` },
        https: `https://localhost:${run.address.httpsPort}`,
        credentials: run.credentials,
        ca: run.address.caPath,
        robots,
        families: Object.fromEntries(robots.map((robot) => [robot, "serve"])),
        times: { rosterPollMs: null, taskChainPollMs: null },
      },
      mqtt: { broker: `mqtt://127.0.0.1:${run.mqttPort}`, protocolVersion: 4 },
      opcua: { listen: { port: run.opcuaPort }, insecureLoopback: {} },
    },
    { aliasDuplicateObjects: false },
  );
}
