import { type Signal, signal } from "@preact/signals";
import type { Command, FinalCommand, PendingCommand } from "../../northbound/web/api/command.ts";

/** A command of the catalogue. */
export interface Wanted {
  readonly operation: string;
  readonly request: Readonly<Record<string, unknown>>;
}

/** The state of a command that this browser has sent. */
export type AskedState =
  /** It may have arrived, or not: it is sent again under the same id. */
  | { readonly state: "asked"; readonly problem: string }
  | { readonly state: "taken"; readonly stage: PendingCommand["stage"]; readonly problem?: string }
  | {
      readonly state: "final";
      readonly outcome: FinalCommand["outcome"];
      readonly message: string;
      /** The service's answer as JSON text, cut to a readable length; empty: there was none. */
      readonly response: string;
    }
  /** Too old without an outcome to be sent again: the gateway's log is read instead. */
  | { readonly state: "late"; readonly problem: string }
  /** The log does not have it either. */
  | { readonly state: "not_known"; readonly wasTaken: boolean }
  /** It never became a command. */
  | { readonly state: "refused"; readonly reason: string };

export interface Asked extends Wanted {
  readonly id: string;
  /**
   * The user who has sent it; empty: nobody logs in. No other user may send it again, because it would be
   * another command.
   */
  readonly by: string;
  readonly robotId: string;
  /** The label of its button. */
  readonly label: string;
  /** The newest tick of the page, for a stop that of its press: with an old one it is refused. */
  readonly tick: string;
  /** By the browser's wall clock. */
  readonly askedAtMs: number;
  readonly known: AskedState;
}

/** The commands that this browser has sent, also before the page was loaded again. */
export interface AskedCommands {
  readonly all: Signal<readonly Asked[]>;
  /** Stores it. False: the browser stores nothing, and another page would not know of it. */
  add(asked: Asked): boolean;
  learn(id: string, known: AskedState): void;
}

/** The browser's storage. */
export interface Storage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

const KEY = "fleetgate.asked";
/** Of commands with a known end. The others are kept, because they are sent again. */
const MOST_ENDED = 20;

export function createAskedCommands(storage: Storage): AskedCommands {
  const all = signal(read(storage));
  const keep = (commands: readonly Asked[]) => {
    const known = new Set(commands.map(({ id }) => id));
    // Another tab has stored its own commands meanwhile.
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

/** A browser may have no room, or forbid storing. */
function isStored(storage: Storage, text: string): boolean {
  try {
    storage.setItem(KEY, text);
    return true;
  } catch {
    return false;
  }
}

/** An accepted command stays accepted, even if the gateway is not reached meanwhile. */
function laterOf(before: AskedState, known: AskedState): AskedState {
  if (before.state !== "taken") return known;
  if (known.state === "not_known") return { ...known, wasTaken: true };
  return known.state === "asked" || known.state === "late" ? { ...before, problem: known.problem } : known;
}

/**
 * The state from the log of commands, if the answer to this browser is late or lost. The gateway holds the
 * answer back until the outcome is final, and the log has the command as soon as it is recorded.
 */
export function withLog(asked: Asked, log: Iterable<Command>): Asked {
  const command = hasEnded(asked) ? null : commandOf(asked, log);
  if (command === null) return asked;
  const { outcome, message, stage } = command;
  const known: AskedState =
    outcome === null || stage !== "final"
      ? { state: "taken", stage: stage === "final" ? "sent" : stage }
      : { state: "final", outcome, message: message ?? "", response: "" };
  return { ...asked, known };
}

/** The command in the log; null: the log does not have it. */
export function commandOf({ id, by }: Asked, log: Iterable<Command>): Command | null {
  for (const command of log) {
    const { protocol, request_id: requestId, user } = command;
    if (protocol === "web" && requestId === id && (by === "" || user === by)) return command;
  }
  return null;
}

/** The mission that it has made, by the service's answer; null: none is known. */
export function missionIdOf({ known }: Asked): string | null {
  if (known.state !== "final") return null;
  return /"mission_id":"([^"\\]+)"/.exec(known.response)?.[1] ?? null;
}

export function hasEnded({ known }: Asked): boolean {
  return known.state === "final" || known.state === "refused" || known.state === "not_known";
}

/** Whether its first answer is awaited, a few seconds at most. */
export function isUnderWay({ known }: Asked): boolean {
  return known.state === "asked" && known.problem === "";
}

/** The commands that an earlier page has stored; empty: they cannot be read. */
function read(storage: Storage): readonly Asked[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(KEY) ?? "[]");
    return Array.isArray(stored) ? stored : [];
  } catch {
    return [];
  }
}
