import { TICKET_LIFE_MS } from "../../../src/domain/ticket-numbers.ts";
import { saveFails, saveIsLate, saveLands, tick } from "./book.ts";
import type { Ending } from "./facts.ts";
import { connect, disconnect, driverStep, maySend, sample, sendTags } from "./network.ts";
import { begin, crash, hasDriver, mayTimeOut, mayWant, receive, think, timeOut, want } from "./program.ts";
import {
  type Attempt,
  answerOf,
  commandEnds,
  execute,
  recordFails,
  recordLands,
  restart,
  restored,
  type Server,
  sendUnrecorded,
  sessionOf,
  ticketKept,
} from "./server.ts";
import { intrude, stray, useMany } from "./strangers.ts";
import type { World } from "./world.ts";

/**
 * Something that happens. `who` names a program, a command or a connection; `how` is chosen among the ways.
 */
export interface Move {
  readonly name: MoveName;
  readonly who: number;
  readonly how: number;
}

const ORPHANS = 2;
const endings: readonly Ending[] = ["succeeded", "refused", "unknown"];

/** Each does its move and tells true, or tells false where it cannot happen now, and changes nothing. */
const table = {
  "wants a start": (world: World, who: number) => wish(world, who, "start"),
  "wants a stop": (world: World, who: number) => wish(world, who, "stop"),
  "does a cycle": (world: World, who: number) => {
    const program = world.programs[who];
    const client = world.clients[who];
    if (program === undefined || client === undefined || program.phase === "off") return false;
    think(program, world.facts);
    if (program.shape.isCyclic) program.mustWrite = true;
    flush(world, who);
    return true;
  },
  "finds nothing for long": (world: World, who: number) => {
    const program = world.programs[who];
    if (program === undefined || !mayTimeOut(program)) return false;
    timeOut(program, world.facts);
    flush(world, who);
    return true;
  },
  reads: (world: World, who: number, how: number) => {
    const program = world.programs[who];
    const client = world.clients[who];
    if (program === undefined || client === undefined) return false;
    if (client.connection === null || client.answer !== null) return false;
    sample(client, program, answerOf(world.server, program.shape.user), 1 + (how % 6), how >>> 3);
    return true;
  },
  "gets its answer": (world: World, who: number) => {
    const program = world.programs[who];
    const client = world.clients[who];
    const answer = client?.answer ?? null;
    if (program === undefined || client === undefined || answer === null) return false;
    client.answer = null;
    receive(program, world.facts, answer);
    flush(world, who);
    return true;
  },
  "reads Answer at once": (world: World, who: number, how: number) => {
    if ((world.programs[who]?.shape.reads ?? "tags") === "tags") return false;
    return make(world, { name: "reads", who, how }) && make(world, { name: "gets its answer", who, how });
  },
  "steps its driver": (world: World, who: number, how: number) => {
    const program = world.programs[who];
    const client = world.clients[who];
    if (program === undefined || client === undefined) return false;
    if (!hasDriver(program.shape) || !maySend(client)) return false;
    driverStep(client, program, how % 2 === 1);
    return true;
  },
  "crashes (program)": (world: World, who: number, how: number) => {
    const program = world.programs[who];
    if (program === undefined) return false;
    const isBeside = hasDriver(program.shape);
    crash(program, how % 2 === 1, isBeside && (how >>> 1) % 2 === 1);
    if (isBeside && world.clients[who]?.connection !== null) begin(program);
    else cut(world, who, isBeside);
    return true;
  },
  "loses its connection": (world: World, who: number) => {
    if (world.clients[who]?.connection == null) return false;
    cut(world, who, true);
    return true;
  },
  connects: (world: World, who: number, how: number) => {
    const program = world.programs[who];
    const client = world.clients[who];
    if (program === undefined || client === undefined || client.connection !== null) return false;
    connect(client, sessionOf(world.server, program.shape, client.before), how % 4);
    begin(program);
    flush(world, who);
    return true;
  },
  "has its request done": (world: World, who: number) => deliver(world, who, false),
  "has its request done, and once more": (world: World, who: number) => deliver(world, who, true),
  "comes late": (world: World, who: number) => {
    const orphan = world.orphans[who];
    const [request, ...others] = orphan?.queue ?? [];
    if (orphan === undefined || request === undefined) return false;
    orphan.queue = others;
    execute(world.server, world.facts, orphan.session, request);
    return true;
  },
  "is dropped by the relay": (world: World, who: number) => {
    if (world.orphans[who] === undefined) return false;
    world.orphans = world.orphans.filter((_orphan, index) => index !== who);
    return true;
  },
  "save lands": (world: World) => {
    const { server } = world;
    if (server.registry.saves.length === 0) return false;
    const number = saveLands(server.registry);
    if (number !== 0) ticketKept(server, number, true);
    return true;
  },
  "all saves land": (world: World) => {
    let isAny = false;
    while (make(world, { name: "save lands", who: 0, how: 0 })) isAny = true;
    return isAny;
  },
  "save fails": (world: World, _who: number, how: number) => {
    const { server } = world;
    if (server.registry.saves.length === 0) return false;
    const number = saveFails(server.registry, how % 2 === 1);
    if (number !== 0) ticketKept(server, number, false);
    return true;
  },
  "save takes a second": (world: World) => {
    const { server } = world;
    if (!server.registry.saves.some((save) => !save.isLate)) return false;
    const number = saveIsLate(server.registry);
    if (number !== 0) ticketKept(server, number, false);
    return true;
  },
  "record lands": ({ server, facts }: World, who: number) => {
    const attempt = server.attempts[who];
    if (attempt?.stage !== "recording" && attempt?.stage !== "leaving") return false;
    recordLands(server, facts, attempt);
    return true;
  },
  "record fails": ({ server, facts }: World, who: number, how: number) => {
    const attempt = server.attempts[who];
    if (attempt?.stage !== "recording" && attempt?.stage !== "leaving") return false;
    recordFails(server, facts, attempt, how % 2 === 1);
    return true;
  },
  "leaves unrecorded": ({ server, facts }: World, who: number, how: number) => {
    const attempt = server.attempts[who];
    if (attempt === undefined || !mayLeaveUnrecorded(server, attempt)) return false;
    sendUnrecorded(server, facts, attempt, how % 2 === 1);
    return true;
  },
  ends: ({ server, facts }: World, who: number, how: number) => {
    const attempt = server.attempts[who];
    if (attempt?.stage !== "sent") return false;
    commandEnds(server, facts, attempt, endings[how % endings.length] ?? "unknown");
    return true;
  },
  "is looked into": ({ server, facts }: World, _who: number, how: number) => {
    const number = server.restoring?.id;
    if (number === undefined) return false;
    const wasSent = facts.sent.some((command) => command.number === number);
    restored(server, facts, wasSent ? (endings[how % endings.length] ?? "unknown") : "unknown");
    return true;
  },
  "time passes": ({ server }: World, _who: number, how: number) => {
    const times = how % 16 === 15 ? 60 : 1;
    for (let time = 0; time < times; time += 1) tick(server.registry, TICKET_LIFE_MS);
    return true;
  },
  "a second passes": ({ server }: World) => {
    tick(server.registry, 0);
    return true;
  },
  restarts: (world: World, _who: number, how: number) => {
    const { server, facts } = world;
    const saves = how % (server.registry.saves.length + 1);
    restart(server, facts, { saves, records: (how >>> 8) % 2 === 1 });
    world.orphans = [];
    for (const who of world.programs.keys()) cut(world, who, true);
    world.orphans = [];
    return true;
  },
  "goes through many numbers": (world: World) => useMany(world),
  strays: (world: World, _who: number, how: number) => stray(world, how),
  intrudes: (world: World, _who: number, how: number) => intrude(world, how),
};

export type MoveName = keyof typeof table;

/** Does a move. False: it cannot happen now. */
export function make(world: World, { name, who, how }: Move): boolean {
  return table[name](world, who, how);
}

export const moveNames = Object.keys(table) as readonly MoveName[];

/** A stop waits for no disk; a faulty server does not make a start wait either. */
function mayLeaveUnrecorded({ faults }: Server, { stage, isStop }: Attempt): boolean {
  if (stage === "keeping") return isStop || faults.sendsWithoutTicket === true;
  return stage === "recording" && faults.sendsWithoutRecord === true;
}

function wish(world: World, who: number, kind: "start" | "stop"): boolean {
  const program = world.programs[who];
  if (program === undefined || !mayWant(program, world.facts, kind)) return false;
  want(program, world.facts, kind);
  return true;
}

/** What the program must write goes to its connection; a driver beside it does that by itself. */
function flush(world: World, who: number): void {
  const program = world.programs[who];
  const client = world.clients[who];
  if (program === undefined || client === undefined || hasDriver(program.shape)) return;
  if (program.mustWrite && maySend(client)) sendTags(client, program);
}

function deliver(world: World, who: number, isRepeated: boolean): boolean {
  const connection = world.clients[who]?.connection ?? null;
  const [request, ...others] = connection?.queue ?? [];
  if (connection === null || request === undefined) return false;
  if (!isRepeated) connection.queue = others;
  execute(world.server, world.facts, connection.session, request);
  return true;
}

/** The client's side is gone; what it had written is held on the way. */
function cut(world: World, who: number, keepsRecent: boolean): void {
  const client = world.clients[who];
  const program = world.programs[who];
  if (client === undefined || program === undefined) return;
  const { connection } = client;
  if (connection !== null && connection.queue.length > 0) {
    world.orphans = [connection, ...world.orphans].slice(0, ORPHANS);
  }
  disconnect(client);
  if (!keepsRecent) client.recent = [];
  program.phase = "off";
}
