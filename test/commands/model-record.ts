import { dispatcherDefaults } from "../../src/commands/options.ts";
import type { Command } from "../../src/domain/command.ts";
import type { Outcome } from "../../src/domain/outcome.ts";

/**
 * What the simulated service knows of one call: the record that outcomes are held against. Times are
 * monotonic.
 */
export interface Received {
  readonly token: string;
  readonly operation: string;
  readonly robotId: string;
  readonly life: number;
  answered: "ok" | "refused" | null;
  hadEffect: boolean;
  /** When the call ended without an answer. */
  lostAtMs: number | null;
}

/** A command, and what its sender was told. Times are monotonic. */
export interface Sender {
  readonly command: Command;
  readonly token: string;
  readonly told: Outcome[];
  /** Until when it may leave however the wall clock is set: as long after it was sent as it said then. */
  startByMs: number;
  /** Since when its effect has been visible to a dispatcher that could know it as new. */
  shownAtMs: number | null;
  finalAtMs: number | null;
  crashedBeforeEnd: boolean;
}

/** What the dispatcher promises did not hold in this world. */
export class BrokenPromise extends Error {
  override readonly name = "BrokenPromise";
}

/**
 * A disk that did not take the record took none of this refusal either: asked again, the command may yet be
 * sent.
 */
export function isUnrecorded({ outcome, code }: Outcome): boolean {
  return outcome === "refused" && code === "JOURNAL_FAILED";
}

/**
 * It was told as not on the disk yet: after a crash it may be another one, and a command that was not sent
 * may yet be.
 */
export function isNotYetRecorded({ message }: Outcome): boolean {
  return message.includes("this outcome is not on the disk yet");
}

/** Holds what a sender was told against the service's own record. Throws a BrokenPromise. */
export function checkSender(sender: Sender, received: readonly Received[]): void {
  const { token, command } = sender;
  const recorded = sender.told.filter((outcome) => !isUnrecorded(outcome) && !isNotYetRecorded(outcome));
  const told = recorded.length === 0 ? sender.told : recorded;
  const sendings = received.filter((each) => each.token === token);
  const [outcome] = told;
  const say = (what: string): never => {
    throw new BrokenPromise(`${command.operation} ${token} ${what} (${outcome?.outcome} ${outcome?.code})`);
  };
  if (outcome === undefined) throw new BrokenPromise(`${command.operation} ${token} has no outcome`);
  if (command.operation !== "Halt" && sendings.length > 1) say(`was sent ${sendings.length} times`);
  const names = new Set(told.map((each) => each.outcome));
  if (names.size > 1) say(`was told ${[...names].join(" and ")}`);
  const hadEffect = sendings.some((each) => each.hadEffect);
  if (recorded.length === 0 && told.some(isNotYetRecorded)) return;
  switch (outcome.outcome) {
    case "succeeded":
      if (!sendings.some(({ answered }) => answered === "ok")) say("was never answered OK");
      return;
    case "expired":
      if (sendings.length > 0) say("was sent");
      return;
    case "refused":
      if (hadEffect && command.operation !== "Halt") say("had its effect");
      return;
    case "probably_succeeded":
      if (!hadEffect && command.operation !== "Halt") say("had no effect");
      return;
    case "unknown":
      // A crash between the record and the call leaves open which of them came.
      if (sendings.length === 0 && !sender.crashedBeforeEnd) say("was never sent");
      if (couldBeKnown(sender, sendings[0])) say("could have been known: its effect was shown in time");
      return;
  }
}

/** Its effect was shown, to a dispatcher that knew the list from before, while evidence was to be sought. */
function couldBeKnown(
  { command, shownAtMs, crashedBeforeEnd }: Sender,
  sending: Received | undefined,
): boolean {
  const lostAtMs = sending?.lostAtMs ?? null;
  if (command.operation !== "Go" || crashedBeforeEnd || shownAtMs === null || lostAtMs === null) return false;
  const { evidenceMs, settleMs } = dispatcherDefaults;
  return shownAtMs + settleMs < lostAtMs + evidenceMs;
}
