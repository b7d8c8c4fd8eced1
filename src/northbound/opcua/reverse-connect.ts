import type { OPCUAServer } from "node-opcua";
import type { Peer } from "../../contracts/peers.ts";
import { createBackoff, type RandomSource } from "../../platform/backoff.ts";
import { type Clock, sleep } from "../../platform/clock.ts";
import { connectFault } from "../../platform/connect-fault.ts";
import { describeError, messageOf } from "../../platform/error-text.ts";
import type { Live } from "../../platform/live.ts";
import type { Log } from "../../platform/log.ts";
import { onAbort } from "../../platform/on-abort.ts";
import { bareHost } from "../../platform/url-host.ts";
import {
  openReverseConnection,
  type ReverseEnd,
  type ReverseTarget,
} from "./node-opcua/reverse-connection.ts";

/** The connections that the server opens to clients (OPC UA part 6, 7.1.3). */
export interface ReverseConnections {
  /** One for each address of the configuration. */
  peers(): readonly Peer[];
}

export interface ReverseConnectParts {
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
}

/** A client that lists the endpoints first needs its second connection soon. */
const backoff = { baseMs: 1_000, capMs: 30_000 };

/** An address, and how it is reached. */
interface Caller {
  peer(): Peer;
  stop(): void;
}

/**
 * Keeps one connection to each address, until the signal is aborted; a reload adds and removes addresses. For
 * a server that listens.
 *
 * @param addresses `opc.tcp://host:port`, each once
 */
export function connectInReverse(
  server: OPCUAServer,
  addresses: Live<readonly string[]>,
  parts: ReverseConnectParts,
  signal: AbortSignal,
): ReverseConnections {
  const callers = new Map<string, Caller>();

  function follow(wanted: readonly string[]): void {
    for (const [address, caller] of callers) {
      if (wanted.includes(address)) continue;
      caller.stop();
      callers.delete(address);
    }
    for (const address of wanted)
      if (!callers.has(address)) callers.set(address, keepConnected(server, address, parts));
  }

  follow(addresses.now());
  const following = addresses.onChange((_was, is) => follow(is));
  onAbort(signal, () => {
    following[Symbol.dispose]();
    follow([]);
  });
  return { peers: () => addresses.now().flatMap((address) => callers.get(address)?.peer() ?? []) };
}

function keepConnected(server: OPCUAServer, address: string, parts: ReverseConnectParts): Caller {
  const { clock, random, log } = parts;
  const target = targetOf(address);
  const stopped = new AbortController();
  const waits = createBackoff(backoff, random);
  let state: Peer["state"] = "lost";
  let sinceMs: number | null = null;
  let detail = "";
  /** By the last log line; null: there is none. */
  let isReached: boolean | null = null;

  function show(next: Peer["state"], why: string): void {
    if (next !== state) sinceMs = clock.nowMs();
    state = next;
    detail = why;
  }

  const progress = {
    accepted: () => show("waiting", "it has not opened a secure channel yet"),
    opened() {
      show("connected", "");
      waits.reset();
      if (isReached !== true) log.info({ address }, "an OPC UA client has opened a reverse connection");
      isReached = true;
    },
  };

  function ended({ wasOpen, cause }: ReverseEnd): void {
    const why = wasOpen ? "the connection has ended" : reasonOf(cause, target);
    show("lost", why);
    if (wasOpen || isReached === false) return;
    log.warn({ address, why }, "an OPC UA client is not reached by a reverse connection");
    isReached = false;
  }

  async function run(): Promise<void> {
    const { signal } = stopped;
    while (!signal.aborted) {
      const end = await openReverseConnection(server, target, progress, clock, signal);
      if (signal.aborted) return;
      ended(end);
      await sleep(clock, waits.nextMs(), signal);
    }
  }

  run().catch((error: unknown) =>
    log.error({ address, cause: describeError(error) }, "a reverse connection of OPC UA cannot be opened"),
  );
  return {
    peer: () => ({
      kind: "reverse",
      name: address,
      client: "",
      address: new URL(address).host,
      state,
      sinceMs,
      detail,
    }),
    stop: () => stopped.abort(),
  };
}

function targetOf(address: string): ReverseTarget {
  const { hostname, port } = new URL(address);
  return { host: bareHost(hostname), port: Number(port) };
}

function reasonOf(cause: Error | null, target: ReverseTarget): string {
  if (cause === null) return "the connection ended before a secure channel was open";
  const peer = { key: "opcua.reverseConnect", ...target, caKey: null, certificateKey: null };
  return connectFault(cause, peer, "")?.what ?? messageOf(cause);
}
