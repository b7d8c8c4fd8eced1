import { addIntention, type Facts, intentionOf, noteAsked, noteEnding, noteUnsent } from "./facts.ts";
import type { Answer } from "./server.ts";
import {
  isNew,
  type ProgramFaults,
  type Verdict,
  verdictOfAnswer,
  verdictOfEcho,
  verdictOfTags,
} from "./verdict.ts";

/** How a program reads and writes. */
export interface ProgramShape {
  readonly user: number;
  /** `opcua.users.<name>.number`; 0: none. */
  readonly userNo: number;
  /** `Answer` in one read, tags one by one, or by the five rules: the verdict in `Answer`. */
  readonly reads: "answer" | "tags" | "verdict";
  /**
   * `request`: all in one write request. `whole`: the array `Command`,
   * `copied`: that array, copied by a driver in cycles of its own. `separate`: one request a tag,
   * `RequestId` last. `beside`: a driver that runs beside the program copies its tags, in cycles of its own.
   */
  readonly writes: "request" | "whole" | "copied" | "separate" | "beside";
  /** Writes in every cycle, or only what has changed. */
  readonly isCyclic: boolean;
  /** How often a start is tried again when nothing was sent, or a stop. */
  readonly mostTries: number;
  readonly faults: ProgramFaults;
}

/** Where the program is with its number. */
type Phase =
  /** Not connected. */
  | "off"
  /** Not busy after a start or a reconnect: waits for a NextId to close (rule 7). */
  | "finding"
  /** Writes -my until an answer has it (rule 7). */
  | "closing"
  | "idle"
  /** The parameters are given to the driver; two of its cycles must pass (rule 3). */
  | "settling"
  /** my is written. */
  | "waiting";

/** Whether a driver beside the program writes for it. */
export function hasDriver({ writes }: ProgramShape): boolean {
  return writes === "beside" || writes === "copied";
}

/** A PLC program that uses a slot by the rules of the page. */
export interface Program {
  readonly shape: ProgramShape;
  // In retained memory.
  my: number;
  isBusy: boolean;
  /** What my is for; 0: nothing. */
  intention: number;
  // In memory that a crash clears.
  phase: Phase;
  /** The next intention; 0: none. */
  wanted: number;
  tries: number;
  /** What was read since the last connect, newest first: one answer, or the last three cycles of tags. */
  views: readonly Answer[];
  settledAt: number;
  /** The tags that the program gives to its driver. */
  tags: { readonly a: number; readonly b: number; readonly number: number };
  /** The program wants its tags written, whether they have changed or not. */
  mustWrite: boolean;
  /** Cycles that the driver beside the program has done. */
  driverCycles: number;
}

const nothing = { a: 0, b: 0, number: 0 };

export function newProgram(shape: ProgramShape): Program {
  return {
    shape,
    my: 0,
    isBusy: false,
    intention: 0,
    phase: "off",
    wanted: 0,
    tries: 0,
    views: [],
    settledAt: 0,
    tags: nothing,
    mustWrite: false,
    driverCycles: 0,
  };
}

/** The program is connected again, or starts again beside a driver that is (rule 7). */
export function begin(program: Program): void {
  program.views = [];
  const { my, isBusy, shape } = program;
  if (shape.faults.skipsClosing) {
    program.phase = isBusy ? "waiting" : "idle";
    return;
  }
  if (isBusy || (shape.reads === "verdict" && my !== 0)) close(program);
  else program.phase = "finding";
}

/**
 * The PLC starts again. `keepsRetained` false: its battery was empty. `keepsTags`: the driver's tags
 * survived.
 */
export function crash(program: Program, keepsRetained: boolean, keepsTags: boolean): void {
  if (!keepsRetained) {
    program.my = 0;
    program.isBusy = false;
    program.intention = 0;
  }
  program.wanted = 0;
  program.tries = 0;
  program.views = [];
  program.phase = "off";
  if (!keepsTags) program.tags = nothing;
}

/**
 * A new wish, from the operator or from another part of the program. A stop goes before a start that waits.
 */
export function want(program: Program, facts: Facts, kind: "start" | "stop"): void {
  program.wanted = addIntention(facts, program.shape.user, kind);
  program.tries = 0;
}

export function mayWant({ wanted }: Program, facts: Facts, kind: "start" | "stop"): boolean {
  return wanted === 0 || (kind === "stop" && intentionOf(facts, wanted)?.kind === "start");
}

/** An answer has come, or one cycle of tags is complete. */
export function receive(program: Program, facts: Facts, view: Answer): void {
  program.views = program.shape.reads === "tags" ? [view, ...program.views].slice(0, 3) : [view];
  think(program, facts);
}

/** One cycle of the program. */
export function think(program: Program, facts: Facts): void {
  const [view] = program.views;
  if (program.phase === "settling" && program.driverCycles >= program.settledAt) {
    write(program, { ...program.tags, number: program.my });
    program.phase = "waiting";
  }
  if (view === undefined || program.phase === "off") return;
  if (program.phase === "finding") {
    if (view.next === 0) return;
    program.my = view.next;
    close(program);
    return;
  }
  if (program.phase === "waiting" || program.phase === "closing") evaluate(program, facts, verdict(program));
  if (mayTake(program, facts)) take(program, facts, view);
}

/** Nothing had my number for 5 s, or for another second while it is closed: -my is written (rule 7). */
export function timeOut(program: Program, facts: Facts): void {
  if (program.phase === "waiting" && program.shape.faults.concludesFromAbsence) {
    conclude(program, facts, { kind: "closed" });
  } else close(program);
}

export function mayTimeOut(program: Program): boolean {
  const { phase } = program;
  return (phase === "waiting" || phase === "closing") && verdict(program).kind === "none";
}

function verdict({ views, shape, my }: Program): Verdict {
  const reader = { my, userNo: shape.userNo, faults: shape.faults };
  const [view] = views;
  if (shape.reads === "tags") return verdictOfTags(views, reader);
  if (view === undefined) return { kind: "none" };
  return shape.reads === "verdict" ? verdictOfEcho(view, reader) : verdictOfAnswer(view, reader);
}

function evaluate(program: Program, facts: Facts, found: Verdict): void {
  if (found.kind !== "none" && found.kind !== "under_way") conclude(program, facts, found);
}

/** The number is over for the program. It stays in `my`: rule 3 asks for the last one. */
function conclude(program: Program, facts: Facts, found: Verdict): void {
  const { isBusy, intention, my, shape, wanted } = program;
  program.isBusy = false;
  program.intention = 0;
  program.phase = "idle";
  program.views = program.views.slice(0, 1);
  if (!isBusy) return;
  if (found.kind === "ended") noteEnding(facts, intention, my, found.ending);
  if (found.kind !== "closed" && found.kind !== "others") return;
  if (intentionOf(facts, intention)?.kind === "start") noteUnsent(facts, my, shape.user);
  if (wanted === 0 && program.tries < shape.mostTries) program.wanted = intention;
}

/** A stop does not wait for the end of a start (rule 12). */
function mayTake({ wanted, phase, intention, isBusy }: Program, facts: Facts): boolean {
  if (wanted === 0) return false;
  if (phase === "idle") return true;
  const isStop = intentionOf(facts, wanted)?.kind === "stop";
  return isStop && isBusy && intentionOf(facts, intention)?.kind === "start";
}

/** By the five rules any number but the last one will do. */
function isNewFor({ reads, faults }: ProgramShape, view: Answer, my: number): boolean {
  if (reads !== "verdict" || faults.ignoresNewness) return isNew(view, my, faults);
  return view.next !== 0 && view.next !== my;
}

function take(program: Program, facts: Facts, view: Answer): void {
  const { my, shape, wanted } = program;
  if (!isNewFor(shape, view, my)) return;
  program.my = view.next;
  program.isBusy = true;
  program.intention = wanted;
  program.wanted = 0;
  program.tries += 1;
  // What was read before says nothing of this number together with what is read now.
  program.views = program.views.slice(0, 1);
  noteAsked(facts, wanted, view.next);
  if (shape.writes === "beside") {
    program.tags = { ...program.tags, a: wanted, b: wanted };
    program.settledAt = program.driverCycles + 2;
    program.phase = "settling";
  } else {
    write(program, { a: wanted, b: wanted, number: view.next });
    program.phase = "waiting";
  }
}

function close(program: Program): void {
  program.phase = "closing";
  write(program, { ...program.tags, number: -program.my });
}

function write(program: Program, tags: Program["tags"]): void {
  program.tags = tags;
  program.mustWrite = true;
}
