import type { TakenTicket, Verdict } from "../../../src/domain/ticket-numbers.ts";
import { adopt, type Book, newBook, random, restartBook } from "./book.ts";
import { type Ending, type Facts, fail, intentionOf, noteSent } from "./facts.ts";
import type { TicketReducer } from "./reducer.ts";

/** A session of a user, with the parameters that it has written; 0: none. */
export interface Session {
  user: number;
  /** `opcua.users.<name>.number`; 0: none. */
  readonly userNo: number;
  a: number;
  b: number;
}

/** A write request: parameters, a ticket, or both. `isWhole`: `Command`, which brings its own parameters. */
export interface WriteRequest {
  readonly a?: number;
  readonly b?: number;
  readonly number?: number;
  readonly isWhole?: boolean;
}

/** A command on its way through the gateway. */
export interface Attempt {
  readonly number: number;
  readonly requestId: string;
  readonly user: number;
  readonly a: number;
  readonly b: number;
  readonly isStop: boolean;
  /** Its ticket is being saved; its journal record is being synced; it may leave; it was sent. */
  readonly stage: "keeping" | "recording" | "leaving" | "sent";
}

/** What the journal knows of a command after a restart. */
interface JournalRecord {
  readonly requestId: string;
  readonly isSent: boolean;
  readonly ending: Ending | null;
}

/** Mistakes of a server, planted to see that the model finds them. */
export interface ServerFaults {
  /** A new session has what the one before had, and one that changes its user keeps it. */
  readonly inheritsParameters?: boolean;
  readonly looksAtRightLate?: boolean;
  readonly sendsWithoutTicket?: boolean;
  readonly sendsWithoutRecord?: boolean;
  /** Shows every user the number that anybody wrote last. */
  readonly echoesToAll?: boolean;
}

/** The gateway with one slot, as `slot.ts` and `attempt.ts` drive its tickets. */
export interface Server {
  readonly faults: ServerFaults;
  readonly registry: Book;
  run: number;
  attempts: readonly Attempt[];
  journal: readonly JournalRecord[];
  /** The command that ran at the restart and is still looked into. */
  restoring: TakenTicket | null;
  /** What `Outcome` shows; null before the end. */
  result: Ending | null;
  /** The number that each user wrote last. */
  echoes: readonly { readonly user: number; readonly number: number }[];
}

/** What a client reads of the slot at one moment. */
export interface Answer {
  readonly next: number;
  readonly accepted: number;
  readonly by: number;
  readonly done: number;
  readonly outcome: Ending | null;
  readonly closed: readonly number[];
  readonly rejected: number;
  readonly looksAtRobot: boolean;
  /** The last number of the user that reads, what became of it, and how it ended. */
  readonly echo: number;
  readonly verdict: Verdict;
  readonly ending: Ending | null;
}

/** This user may write nothing. */
export const WITHOUT_RIGHT = 4;

export function newServer(reducer: TicketReducer, faults: ServerFaults): Server {
  const registry = newBook(reducer);
  return { faults, registry, run: 0, attempts: [], journal: [], restoring: null, result: null, echoes: [] };
}

/** The session of a user. `before` is what it was, or the session that its client had before. */
export function sessionOf(
  { faults }: Server,
  { user, userNo }: Pick<Session, "user" | "userNo">,
  before: Session | null,
): Session {
  const isInherited = faults.inheritsParameters === true && before !== null;
  return isInherited ? { ...before, user, userNo } : { user, userNo, a: 0, b: 0 };
}

/** What a session of this user reads. */
export function answerOf({ registry, result, echoes, faults }: Server, user: number): Answer {
  const { open, accepted, doneId, closed, rejected } = registry.tickets;
  const own = echoes.find((each) => each.user === user || faults.echoesToAll === true);
  const echo = own?.number ?? 0;
  const verdict = registry.reducer.verdictOf(registry.tickets, nameOf(own?.user ?? user), echo);
  return {
    next: open,
    accepted: accepted?.id ?? 0,
    by: registry.reducer.acceptedByNo(registry.tickets, nameOf(user)),
    done: doneId,
    outcome: result,
    closed,
    rejected: rejected.id,
    looksAtRobot: rejected.error === "UNKNOWN_NUMBER",
    echo,
    verdict,
    ending: verdict === "ended" ? result : null,
  };
}

function nameOf(user: number): string {
  return `user ${user}`;
}

/** Does one write request of a session: the parameters first, the ticket when the request is done. */
export function execute(server: Server, facts: Facts, session: Session, request: WriteRequest): void {
  const { faults, registry } = server;
  const before = registry.tickets;
  const mayWrite = session.user !== WITHOUT_RIGHT;
  if (!mayWrite && !faults.looksAtRightLate) return;
  if (request.isWhole !== true) {
    session.a = request.a ?? session.a;
    session.b = request.b ?? session.b;
  }
  const { number } = request;
  if (number !== undefined) {
    const own = request.isWhole === true ? { a: request.a ?? 0, b: request.b ?? 0 } : session;
    writeNumber(server, facts, number, { ...session, a: own.a, b: own.b });
  }
  if (!mayWrite && registry.tickets !== before)
    fail(facts, "a user without the right has changed the tickets");
  if (number === 0 && registry.tickets !== before) fail(facts, "writing 0 has changed the tickets");
}

function writeNumber(server: Server, facts: Facts, number: number, asked: Session): void {
  const { registry } = server;
  const { reducer, tickets: before } = registry;
  const { user, userNo, a, b } = asked;
  // What is missing ends the ticket refused, and is no stop (slot-command.ts, attempt.ts).
  const isCommand = a !== 0 && b !== 0;
  const isStop = isCommand && intentionOf(facts, a)?.kind === "stop";
  const write = { number, isStop, user: nameOf(user), userNo, text: "" };
  const { state, action } = reducer.writeTicket(before, write, registry.nowMs, random(registry));
  const isTaken = action === "take" && user !== WITHOUT_RIGHT;
  if (isTaken && isCommand) {
    const requestId = `${before.run}.${number}`;
    const attempt: Attempt = { number, requestId, user, a, b, isStop, stage: "keeping" };
    server.attempts = [...server.attempts, attempt];
  }
  if (number !== 0) {
    const others = server.echoes.filter((each) => each.user !== user);
    server.echoes = [{ user, number: Math.abs(number) }, ...others];
  }
  if (state !== before) adopt(registry, state, isTaken ? number : 0);
  if (isTaken && !isCommand) finish(server, facts, number, "unsent");
}

/** The disk has answered for a ticket: a start goes on to the journal, or ends. */
export function ticketKept(server: Server, number: number, isKept: boolean): void {
  const { registry } = server;
  const attempt = server.attempts.find((each) => each.number === number);
  if (attempt === undefined || attempt.stage !== "keeping" || attempt.isStop) return;
  if (isReplaced(server, number)) dropAttempt(server, number);
  else if (isKept) setStage(server, number, "recording");
  else {
    dropAttempt(server, number);
    adopt(registry, registry.reducer.ticketVoid(registry.tickets, number, "JOURNAL_FAILED"));
  }
}

/** A record of a start is durable: first that it was accepted; then that it was sent, and it is. */
export function recordLands(server: Server, facts: Facts, attempt: Attempt): void {
  const { number, requestId } = attempt;
  if (attempt.stage === "recording") {
    server.journal = [...server.journal, { requestId, isSent: false, ending: null }];
    setStage(server, number, "leaving");
    showStage(server, number);
    return;
  }
  setRecord(server, requestId, true, null);
  send(server, facts, attempt);
}

/** A record fails or takes too long: the start is not sent. `isDurable`: it came to the disk all the same. */
export function recordFails(server: Server, facts: Facts, attempt: Attempt, isDurable: boolean): void {
  if (isDurable) setRecord(server, attempt.requestId, attempt.stage === "leaving", null);
  dropAttempt(server, attempt.number);
  finish(server, facts, attempt.number, "unsent");
}

/** A stop leaves, whatever the disk does; so does a start of a faulty server. */
export function sendUnrecorded(server: Server, facts: Facts, attempt: Attempt, isDurable: boolean): void {
  if (isDurable) setRecord(server, attempt.requestId, true, null);
  send(server, facts, attempt);
}

function send(server: Server, facts: Facts, { number, user, a, b }: Attempt): void {
  noteSent(facts, { number, user, a, b });
  setStage(server, number, "sent");
  showStage(server, number);
}

/** The service has answered. */
export function commandEnds(
  server: Server,
  facts: Facts,
  { number, requestId }: Attempt,
  ending: Ending,
): void {
  if (server.journal.some((each) => each.requestId === requestId)) {
    setRecord(server, requestId, true, ending);
  }
  dropAttempt(server, number);
  finish(server, facts, number, ending);
}

/**
 * The gateway stops at once and starts again. Of what was on its way to the disk, `lands` tells what came
 * there.
 */
export function restart(server: Server, facts: Facts, lands: { saves: number; records: boolean }): void {
  const { registry } = server;
  const landed = registry.saves[lands.saves - 1];
  if (landed !== undefined) registry.kept = landed.record;
  for (const { stage, requestId } of server.attempts) {
    const isOnItsWay = stage === "recording" || stage === "leaving";
    if (lands.records && isOnItsWay) setRecord(server, requestId, stage === "leaving", null);
  }
  server.attempts = [];
  server.echoes = [];
  server.run += 1;
  restartBook(registry, `r${server.run}`);
  const { accepted, doneId, current } = registry.tickets;
  server.result = accepted !== null && accepted.id === doneId ? registry.ending : null;
  server.restoring = null;
  if (current !== null && registry.reducer.isBusy(registry.tickets)) restore(server, facts, current);
}

function restore(server: Server, facts: Facts, taken: TakenTicket): void {
  const { registry } = server;
  const record = server.journal.find((each) => each.requestId === taken.requestId);
  if (record === undefined && taken.phase === "taking") {
    if (isReplaced(server, taken.id)) return;
    const next = registry.reducer.ticketVoid(registry.tickets, taken.id, "SHUTTING_DOWN");
    adopt(registry, next);
    if (next.current !== null && next.current.phase !== "done") restore(server, facts, next.current);
  } else if (record === undefined) finish(server, facts, taken.id, "unknown");
  else if (!record.isSent) {
    setRecord(server, taken.requestId, false, "unsent");
    showStage(server, taken.id);
    finish(server, facts, taken.id, "unsent");
  } else if (record.ending !== null) finish(server, facts, taken.id, record.ending);
  else {
    server.restoring = taken;
    showStage(server, taken.id);
  }
}

/** What was sent before the restart has been looked into. */
export function restored(server: Server, facts: Facts, ending: Ending): void {
  const { restoring } = server;
  if (restoring === null) return;
  server.restoring = null;
  setRecord(server, restoring.requestId, true, ending);
  finish(server, facts, restoring.id, ending);
}

function showStage(server: Server, number: number): void {
  const { registry } = server;
  if (isReplaced(server, number)) return;
  server.result = null;
  adopt(registry, registry.reducer.ticketAccepted(registry.tickets, number));
}

function finish(server: Server, facts: Facts, number: number, ending: Ending): void {
  const { registry } = server;
  if (isReplaced(server, number)) return;
  facts.endings = [...facts.endings, { number, ending }];
  server.result = ending;
  registry.ending = ending;
  adopt(registry, registry.reducer.ticketDone(registry.tickets, number));
}

function isReplaced({ registry }: Server, number: number): boolean {
  return registry.tickets.current?.id !== number;
}

function setStage(server: Server, number: number, stage: Attempt["stage"]): void {
  server.attempts = server.attempts.map((each) => (each.number === number ? { ...each, stage } : each));
}

function dropAttempt(server: Server, number: number): void {
  server.attempts = server.attempts.filter((each) => each.number !== number);
}

function setRecord(server: Server, requestId: string, isSent: boolean, ending: Ending | null): void {
  const others = server.journal.filter((each) => each.requestId !== requestId);
  server.journal = [...others, { requestId, isSent, ending }];
}
