import { type Facts, noFacts } from "./facts.ts";
import { type Client, type Connection, newClient, type Orphans } from "./network.ts";
import { newProgram, type Program, type ProgramShape } from "./program.ts";
import type { TicketReducer } from "./reducer.ts";
import { newServer, type Server, type ServerFaults } from "./server.ts";

/** What a world is made of. */
export interface Setup {
  readonly reducer: TicketReducer;
  readonly serverFaults: ServerFaults;
  readonly programs: readonly ProgramShape[];
}

/** A slot, the programs that use it, and the network between them. */
export interface World {
  readonly server: Server;
  readonly facts: Facts;
  readonly programs: readonly Program[];
  readonly clients: readonly Client[];
  orphans: Orphans;
}

export function newWorld({ reducer, serverFaults, programs }: Setup): World {
  return {
    server: newServer(reducer, serverFaults),
    facts: noFacts(),
    programs: programs.map(newProgram),
    clients: programs.map(newClient),
    orphans: [],
  };
}

/** A copy that can go another way. What is never changed in place is shared. */
export function copyWorld({ server, facts, programs, clients, orphans }: World): World {
  return {
    server: { ...server, registry: { ...server.registry } },
    facts: { ...facts },
    programs: programs.map((program) => ({ ...program })),
    clients: clients.map((client) => ({ ...client, connection: copyConnection(client.connection) })),
    orphans: orphans.map((orphan) => ({ ...orphan, session: { ...orphan.session } })),
  };
}

function copyConnection(connection: Connection | null): Connection | null {
  return connection === null ? null : { ...connection, session: { ...connection.session } };
}

/** The same text for worlds in which the same can happen. Times are left out: moves say when they pass. */
export function keyOf({ server, facts, programs, clients, orphans }: World): string {
  const { registry, attempts, journal, restoring, result, run } = server;
  const saves = registry.saves.map(({ record, ...save }) => [
    keyOfTickets(record.tickets),
    record.ending,
    save,
  ]);
  const kept = registry.kept === null ? null : [keyOfTickets(registry.kept.tickets), registry.kept.ending];
  return JSON.stringify([
    ...[
      keyOfTickets(registry.tickets),
      registry.ending,
      saves,
      kept,
      registry.claimedTo,
      registry.isInTrouble,
    ],
    ...[attempts, journal, restoring?.id ?? 0, result, run],
    facts,
    programs.map(({ shape: _shape, ...program }) => program),
    clients,
    orphans,
  ]);
}

const ticketKeys = new WeakMap<object, string>();

function keyOfTickets(tickets: Server["registry"]["tickets"]): string {
  const known = ticketKeys.get(tickets);
  if (known !== undefined) return known;
  const key = JSON.stringify(tickets, (name, value) => (name === "openSinceMs" ? 0 : value));
  ticketKeys.set(tickets, key);
  return key;
}
