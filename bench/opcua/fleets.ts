import { join } from "node:path";
import { ask } from "../ask.ts";
import type { Child } from "../child.ts";
import { nodesBuilt, streamsOpen } from "../fleet/open.ts";
import { type Gateway, startGateway } from "../gateway.ts";
import { benchFolder, freePorts, pause, type SectionRun, startBroker } from "../section-run.ts";
import { fleetSection, type Service, startService } from "../service.ts";
import type { Browsed, ClientReply } from "./protocol.ts";

/** Time for what a start leaves to do, and for the heap to be collected. */
const SETTLE_MS = 45_000;

/** What gateways with a whole simulated fleet showed. Each begins with an empty folder. */
export interface FleetFigures {
  readonly rssAnonMb: number;
  /** By a client that came in before the first robot had its nodes, and by one after the last had them. */
  readonly browsed: { readonly before: Browsed; readonly after: Browsed };
}

/** A gateway that is left alone, and then browsed; then another one that is browsed from its start on. */
export async function measureFleets(run: SectionRun, robots: number): Promise<FleetFigures> {
  const fleet = await openFleet(run, robots);
  const client = run.start("client", join(benchFolder, "opcua", "client.js"));
  const first = await fleet.start("first");
  const rssAnonMb = await restingMemory(first, fleet.service, robots);
  const after = await browse(client, first, robots);
  await first.gateway.child.end();
  const second = await fleet.start("second");
  const before = await browse(client, second, robots);
  for (const child of [client, second.gateway.child, fleet.service.child]) await child.end();
  return { rssAnonMb, browsed: { before, after } };
}

/** `RssAnon` of a gateway that has started, and is at rest. */
export async function measureMemory(run: SectionRun, robots: number): Promise<number> {
  const fleet = await openFleet(run, robots);
  const started = await fleet.start("large");
  const rssAnonMb = await restingMemory(started, fleet.service, robots);
  for (const child of [started.gateway.child, fleet.service.child]) await child.end();
  return rssAnonMb;
}

interface Started {
  readonly gateway: Gateway;
  readonly startedAtMs: number;
}

async function openFleet(run: SectionRun, robots: number) {
  const mqttPort = await startBroker(run);
  const service = await startService(run, {
    folder: join(run.folder, `service-${robots}`),
    port: await freePorts(),
    args: ["--robots", String(robots)],
  });
  const fleet = { ...fleetSection(service.address), locations: ["plant-1"] };
  return {
    service,
    async start(id: string): Promise<Started> {
      const startedAtMs = Date.now();
      return { gateway: await startGateway(run, { id, fleet, mqttPort }), startedAtMs };
    },
  };
}

async function restingMemory(
  { gateway, startedAtMs }: Started,
  service: Service,
  robots: number,
): Promise<number> {
  await streamsOpen(gateway, service, robots, startedAtMs);
  await nodesBuilt(gateway, robots);
  await pause(SETTLE_MS);
  return gateway.child.rssAnonMb();
}

async function browse(client: Child, { gateway }: Started, robots: number): Promise<Browsed> {
  const { result } = await ask<ClientReply, "browsed">(
    client,
    { kind: "browse", port: gateway.opcuaPort, robots },
    "browsed",
  );
  return result;
}
