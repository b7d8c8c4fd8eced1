import { type Signal, signal } from "@preact/signals";
import type { Command, FinalCommand, PendingCommand } from "../../northbound/web/api/command.ts";

/** A command of the catalogue. */
export interface Wanted {
  readonly operation: string;
  readonly request: Readonly<Record<string, unknown>>;
}

/** What is known of a command that this browser has asked for. */
export type AskedState =
  /** It may have arrived, or not: it is asked for again under the same id. */
  | { readonly state: "asked"; readonly problem: string }
  | { readonly state: "taken"; readonly stage: PendingCommand["stage"]; readonly problem?: string }
  | {
      readonly state: "final";
      readonly outcome: FinalCommand["outcome"];
      readonly message: string;
      /** The service's answer as JSON text, cut to what people read; empty: there was none. */
      readonly response: string;
    }
  /** Too long without an outcome to be asked for again: the gateway's log is asked what became of it. */
  | { readonly state: "late"; readonly problem: string }
  /** The log does not have it either. */
  | { readonly state: "not_known"; readonly wasTaken: boolean }
  /** It never became a command. */
  | { readonly state: "refused"; readonly reason: string };

export interface Asked extends Wanted {
  readonly id: string;
  /**
   * The user who has asked; empty: nobody logs in. Nobody else may ask for it again: it would be another
   * command.
   */
  readonly by: string;
  readonly robotId: string;
  /** What the button said. */
  readonly label: string;
  /** The newest tick that the page had: a start whose tick is old is refused. */
  readonly tick: string;
  /** By the browser's wall clock. */
  readonly askedAtMs: number;
  readonly known: AskedState;
}

/** The commands that this browser has asked for, also before the page was loaded again. */
export interface AskedCommands {
  readonly all: Signal<readonly Asked[]>;
  /** Stores it. False: the browser stores nothing, and another page would not know of it. */
  add(asked: Asked): boolean;
  learn(id: string, known: AskedState): void;
}

/** As browsers have it. */
export interface Storage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

const KEY = "fleetgate.asked";
/** Of those whose end is known. The others are kept: they are asked for again. */
const MOST_ENDED = 20;

export function createAskedCommands(storage: Storage): AskedCommands {
  const all = signal(read(storage));
  const keep = (commands: readonly Asked[]) => {
    const known = new Set(commands.map(({ id }) => id));
    // Another tab has stored its own meanwhile.
    const others = read(storage).filter(({ id }) => !known.has(id));
    const both = [...others, ...commands].sort((a, b) => a.askedAtMs - b.askedAtMs);
    const ended = both.filter(hasEnded).slice(-MOST_ENDED);
    const kept = both.filter((command) => !hasEnded(command) || ended.includes(command));
    all.value = kept;
    return isStored(storage, JSON.stringify(kept));
  };
  return {
    all,
    add: (asked) => keep([...all.peek(), asked]),
    learn(id, known) {
      const learnt = (command: Asked) => ({ ...command, known: laterOf(command.known, known) });
      keep(all.peek().map((command) => (command.id === id ? learnt(command) : command)));
    },
  };
}

/** A browser may have no room, or a user that lets it store nothing. */
function isStored(storage: Storage, text: string): boolean {
  try {
    storage.setItem(KEY, text);
    return true;
  } catch {
    return false;
  }
}

/** What was taken stays taken, though the gateway is not reached meanwhile. */
function laterOf(before: AskedState, known: AskedState): AskedState {
  if (before.state !== "taken") return known;
  if (known.state === "not_known") return { ...known, wasTaken: true };
  return known.state === "asked" || known.state === "late" ? { ...before, problem: known.problem } : known;
}

/**
 * What the log of commands says, where the answer to this browser is late or lost. The gateway keeps the
 * answer until the outcome is final, and the log has the command as soon as it is recorded.
 */
export function withLog(asked: Asked, log: Iterable<Command>): Asked {
  if (hasEnded(asked)) return asked;
  for (const command of log) {
    const { protocol, request_id: id, outcome, message, stage, user } = command;
    const isOwn = protocol === "web" && id === asked.id && (asked.by === "" || user === asked.by);
    if (!isOwn) continue;
    const known: AskedState =
      outcome === null || stage !== "final"
        ? { state: "taken", stage: stage === "final" ? "sent" : stage }
        : { state: "final", outcome, message: message ?? "", response: "" };
    return { ...asked, known };
  }
  return asked;
}

export function hasEnded({ known }: Asked): boolean {
  return known.state === "final" || known.state === "refused" || known.state === "not_known";
}

/** Whether it may yet be done because this browser asks for it. */
export function isAskedFor(asked: Asked): boolean {
  return !hasEnded(asked) && asked.known.state !== "late";
}

/** What an earlier page has stored; nothing if it cannot be read. */
function read(storage: Storage): readonly Asked[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(KEY) ?? "[]");
    return Array.isArray(stored) ? stored : [];
  } catch {
    return [];
  }
}
