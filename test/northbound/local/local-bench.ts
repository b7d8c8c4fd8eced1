import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CommandLedger, RefusedRequest } from "../../../src/contracts/commander.ts";
import type { RobotLease, Stations } from "../../../src/contracts/stations.ts";
import { type Outcome, refusal } from "../../../src/domain/outcome.ts";
import { createLineReader } from "../../../src/northbound/local/line-reader.ts";
import { createLocalServer } from "../../../src/northbound/local/server.ts";
import type { Component } from "../../../src/platform/component.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { createFakeHolds, type FakeHolds } from "../../support/fake-holds.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";
import { createFakeCommander, type FakeCommander, fakeCatalogue } from "../opcua/fake-commands.ts";

/** A client on a socket, with what it was told. */
export interface LocalClient {
  readonly socket: Socket;
  send(line: unknown): void;
  /** The next line that nobody has taken, as JSON; rejects when the connection ends before it. */
  next(): Promise<unknown>;
  readonly closed: Promise<void>;
}

/** A running door in a folder of its own. */
export interface LocalBench extends AsyncDisposable {
  readonly socketPath: string;
  readonly commander: FakeCommander;
  readonly clock: ManualClock;
  readonly ledger: FakeLedger;
  readonly holds: FakeHolds;
  readonly server: Component;
  client(): Promise<LocalClient>;
  stop(): Promise<void>;
}

export async function createLocalBench(): Promise<LocalBench> {
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-local-"));
  const socketPath = join(folder, "control.sock");
  const commander = createFakeCommander();
  const clock = createManualClock();
  const ledger = createFakeLedger();
  const stations = createFakeStations();
  const holds = createFakeHolds();
  const server = createLocalServer(
    { socketPath, startByMs: 10_000 },
    { commander, ledger, catalogue: fakeCatalogue(), stations, holds, clock, log: silentLog },
  );
  const stop = await start(server);
  return {
    socketPath,
    commander,
    clock,
    ledger,
    holds,
    server,
    client: () => createLocalClient(socketPath),
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** Knows the identities that a test names (`user/id`), and keeps what it is told. */
export interface FakeLedger extends CommandLedger {
  readonly known: Set<string>;
  readonly told: Array<RefusedRequest & Pick<Outcome, "code" | "message">>;
}

function createFakeLedger(): FakeLedger {
  const known = new Set<string>();
  const told: FakeLedger["told"] = [];
  return {
    known,
    told,
    knows: ({ name }, requestId) => known.has(`${name}/${requestId}`),
    refused: (request, { code, message }) => void told.push({ ...request, code, message }),
  };
}

/** Station Dock holds r1 for a PLC, and only an engineer may end that. */
export function createFakeStations(): Pick<Stations, "override" | "leaseOf"> {
  let lease: RobotLease | null = { station: "Dock", owner: { door: "opcua", name: "plc" }, sinceMs: 0 };
  return {
    leaseOf: (robotId) => (robotId === "r1" ? lease : null),
    override(source, robotId) {
      if (source.name !== "chief") return refusal("NOT_ALLOWED", `${source.door} "${source.name}" may not`);
      if (robotId === "r1") lease = null;
      return null;
    },
  };
}

/** Resolves when the component is ready, with what stops it; rejects when it cannot start. */
export async function start(component: Component): Promise<() => Promise<void>> {
  const stopping = new AbortController();
  let ended: Promise<void> = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    ended = component.run(stopping.signal, resolve);
    ended.catch(reject);
  });
  return () => {
    stopping.abort();
    return ended;
  };
}

async function createLocalClient(path: string): Promise<LocalClient> {
  const socket = connect({ path });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  const lines: unknown[] = [];
  const waiting: Array<{ resolve: (line: unknown) => void; reject: (error: Error) => void }> = [];
  const reader = createLineReader(1_000_000, take, () => socket.destroy());
  function take(line: Buffer): void {
    const json: unknown = JSON.parse(line.toString());
    const waiter = waiting.shift();
    if (waiter === undefined) lines.push(json);
    else waiter.resolve(json);
  }
  socket.on("data", reader.push);
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  void closed.then(() => {
    for (const { reject } of waiting) reject(new Error("the connection ended"));
  });
  return {
    socket,
    send: (line) => void socket.write(`${typeof line === "string" ? line : JSON.stringify(line)}\n`),
    next() {
      if (lines.length > 0) return Promise.resolve(lines.shift());
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
    closed,
  };
}
