import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SectionRun } from "../section-run.ts";
import { type LoadAddress, robotIds } from "./protocol.ts";

/**
 * The gateway's `fleet` section for the load service: its own defaults, but for the polls that this service
 * does not answer. All robots are named, for the same reason.
 * @param apiKey the service keeps its sessions by this name
 */
export function loadFleet(run: SectionRun, apiKey: string, address: LoadAddress, count: number): object {
  const robots = robotIds(count);
  const credentials = join(run.folder, `credentials-${apiKey}.json`);
  writeFileSync(credentials, JSON.stringify({ api_key: apiKey, scope: "bench", secret: "bench" }), {
    mode: 0o600,
  });
  return {
    grpc: { address: `localhost:${address.grpcPort}` },
    https: `https://localhost:${address.httpsPort}`,
    credentials,
    ca: address.caPath,
    robots,
    families: Object.fromEntries(robots.map((robot) => [robot, "serve"])),
    times: { rosterPollMs: null, taskChainPollMs: null },
  };
}
