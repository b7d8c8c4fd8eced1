import { TAKEN_KEPT } from "../../../src/domain/ticket-numbers.ts";
import { saveLands } from "./book.ts";
import { addIntention, noteAsked } from "./facts.ts";
import {
  commandEnds,
  execute,
  type Server,
  type Session,
  sendUnrecorded,
  sessionOf,
  WITHOUT_RIGHT,
} from "./server.ts";
import type { World } from "./world.ts";

/** A user who may write, and keeps to no rule. */
const STRAY = 3;

/**
 * A user who may write writes some number, as a start or as a stop: an old one, one that comes, or the open
 * one.
 */
export function stray(world: World, how: number): boolean {
  const { server, facts, programs } = world;
  const { tickets } = server.registry;
  const numbers = [
    tickets.open,
    tickets.open,
    tickets.open - 1 - ((how >>> 8) % 4),
    tickets.open + 1 + ((how >>> 8) % 4),
    tickets.taken[(how >>> 8) % 8] ?? 0,
    programs[(how >>> 8) % programs.length]?.my ?? 0,
    -(programs[(how >>> 8) % programs.length]?.my ?? 0),
    -tickets.open,
    -(tickets.taken[(how >>> 8) % 8] ?? 0),
    -(tickets.issuedTo - ((how >>> 8) % 16)),
    0,
  ];
  const number = numbers[how % numbers.length] ?? 0;
  if ((how >>> 5) % 4 === 3) return strayAs(world, how, number);
  const id = addIntention(facts, STRAY, (how >>> 4) % 2 === 0 ? "start" : "stop");
  noteAsked(facts, id, number);
  const session: Session = { user: STRAY, userNo: STRAY, a: 0, b: 0 };
  execute(server, facts, session, { a: id, b: id, number });
  return true;
}

/**
 * Another session of a program's user writes a number that starts nothing. An engineer's tool does so, and a
 * write of an earlier life that comes late.
 */
function strayAs({ server, facts, programs }: World, how: number, number: number): boolean {
  const shape = programs[(how >>> 12) % programs.length]?.shape;
  if (shape === undefined || number === server.registry.tickets.open) return false;
  execute(server, facts, { ...shape, a: 0, b: 0 }, { number, isWhole: true });
  return true;
}

/**
 * A user without the right writes parameters and a number. Then its session becomes one of a user who may,
 * who writes a number only: the server forgets what the session had.
 */
export function intrude(world: World, how: number): boolean {
  const { server, facts } = world;
  const { open } = server.registry.tickets;
  const id = addIntention(facts, WITHOUT_RIGHT, "start");
  const session: Session = { user: WITHOUT_RIGHT, userNo: WITHOUT_RIGHT, a: 0, b: 0 };
  execute(server, facts, session, { a: id, b: id });
  execute(server, facts, session, { number: how % 2 === 0 ? open : -open });
  if (how % 4 >= 2) {
    const next = server.registry.tickets.open;
    execute(server, facts, sessionOf(server, { user: STRAY, userNo: STRAY }, session), { number: next });
  }
  return true;
}

/** A user who may write sends as many stops as the slot remembers taken numbers, and a few more. */
export function useMany({ server, facts }: World): boolean {
  if (server.registry.tickets.open === 0) return false;
  for (let time = 0; time < TAKEN_KEPT + 4; time += 1) {
    const { open: number } = server.registry.tickets;
    const id = addIntention(facts, STRAY, "stop");
    noteAsked(facts, id, number);
    execute(server, facts, { user: STRAY, userNo: STRAY, a: id, b: id }, { number });
    const attempt = server.attempts.find((each) => each.number === number);
    if (attempt === undefined) return true;
    sendUnrecorded(server, facts, attempt, false);
    commandEnds(server, facts, attempt, "succeeded");
    settleSaves(server);
  }
  return true;
}

function settleSaves({ registry }: Server): void {
  while (registry.saves.length > 0) saveLands(registry);
}
