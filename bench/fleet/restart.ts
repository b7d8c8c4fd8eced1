import { type Gateway, type GatewayOptions, startGateway } from "../gateway.ts";
import { type SectionRun, until } from "../section-run.ts";
import type { Service } from "../service.ts";
import { type Opened, openedSince } from "./open.ts";

const OPEN_WITHIN_MS = 120_000;

/** A running gateway and what it needs to start again. */
export interface Restartable {
  readonly gateway: Gateway;
  readonly options: GatewayOptions;
  readonly service: Service;
  /** As many as it opens. */
  readonly streams: number;
}

export interface Restart extends Opened {
  /** Of the gateway's process from its start until all streams were open. */
  readonly cpuSeconds: number;
}

/** Ends the gateway and starts it again with the same data. It is asked nothing meanwhile. */
export async function restartGateway(
  run: SectionRun,
  { gateway: old, options, service, streams }: Restartable,
): Promise<{ readonly gateway: Gateway; readonly restart: Restart }> {
  await old.child.end();
  await until("the old streams ended", () => openStreams(service) === 0, OPEN_WITHIN_MS);
  const startedAtMs = Date.now();
  const gateway = await startGateway(run, options);
  await until("all streams open", () => openStreams(service) >= streams, OPEN_WITHIN_MS);
  const cpuSeconds = gateway.child.cpuMicros() / 1e6;
  return { gateway, restart: { ...openedSince(service, startedAtMs, streams), cpuSeconds } };
}

function openStreams({ observations }: Service): number {
  return observations.at(-1)?.openStreams ?? 0;
}
