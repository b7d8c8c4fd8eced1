import { join } from "node:path";
import { ask } from "../ask.ts";
import type { Child } from "../child.ts";
import { nodesBuilt } from "../fleet/open.ts";
import { type Gateway, type GatewayOptions, startGateway } from "../gateway.ts";
import { loadFleet } from "../messages/load-fleet.ts";
import { probe } from "../probe.ts";
import { benchFolder, REPLY_TIMEOUT_MS, type SectionRun } from "../section-run.ts";
import type { LoadReply, ReadersReply, SentMessage } from "./protocol.ts";

/** A gateway with robots that move, and whose values change when they are told to. */
export interface ConsoleFleet {
  readonly load: Child;
  readonly gateway: Gateway;
  /** Sends so many mission messages a second from now on. Gives how many were sent until now. */
  rate(messagesPerSecond: number): Promise<number>;
  /** When the messages of the first robot left since this was asked last. */
  sent(): Promise<readonly SentMessage[]>;
  /** Another gateway with the same configuration, after the last one has ended. */
  restart(): Promise<Gateway>;
  close(): Promise<void>;
}

export async function openFleet(
  run: SectionRun,
  id: string,
  mqttPort: number,
  robots: number,
): Promise<ConsoleFleet> {
  const load = run.start("load", join(benchFolder, "console", "load.js"), [String(robots), run.folder]);
  const { address } = await load.next<Extract<LoadReply, { kind: "listening" }>>(REPLY_TIMEOUT_MS);
  const options: GatewayOptions = {
    id,
    // The service of the load answers the online list: its robots have places.
    fleet: { ...loadFleet(run, "gateway", address, robots), times: { taskChainPollMs: null } },
    mqttPort,
    preload: probe,
  };
  const start = async () => {
    const gateway = await startGateway(run, options);
    await nodesBuilt(gateway, robots);
    return gateway;
  };
  const fleet = {
    load,
    gateway: await start(),
    async rate(messagesPerSecond: number) {
      return (await ask<LoadReply, "rate">(load, { kind: "rate", messagesPerSecond }, "rate")).messages;
    },
    async sent() {
      return (await ask<LoadReply, "sent">(load, { kind: "sent" }, "sent")).sent;
    },
    async restart() {
      fleet.gateway = await start();
      return fleet.gateway;
    },
    async close() {
      for (const child of [fleet.gateway.child, load]) await child.end();
    },
  };
  return fleet;
}

/** Clients of a gateway's stream, in a process of their own. */
export interface Readers {
  /** So many clients from now on. Gives what those before were sent. */
  read(clients: number): Promise<ReadersReply>;
}

export function openReaders(run: SectionRun, { webUrl }: Gateway): Readers {
  const child = run.start("readers", join(benchFolder, "console", "readers.js"), [webUrl]);
  return { read: (clients) => ask<ReadersReply, "read">(child, { kind: "read", clients }, "read") };
}
