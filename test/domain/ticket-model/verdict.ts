import type { Ending } from "./facts.ts";
import type { Answer } from "./server.ts";

/** What a program reads out of the slot's answers about its number (rules 2 and 4 to 6 of the page). */
export type Verdict =
  | { readonly kind: "ended"; readonly ending: Ending }
  | { readonly kind: "others" }
  | { readonly kind: "under_way" }
  | { readonly kind: "closed" }
  | { readonly kind: "look" }
  | { readonly kind: "none" };

/** Mistakes of a program, planted to see that the model finds them. */
export interface ProgramFaults {
  readonly believesTornResult?: boolean;
  readonly believesTornUser?: boolean;
  readonly readsRejectedOnly?: boolean;
  readonly concludesFromAbsence?: boolean;
  readonly ignoresNewness?: boolean;
  readonly ignoresEcho?: boolean;
  readonly skipsClosing?: boolean;
}

/** Number and user of the program that reads. */
interface Reader {
  readonly my: number;
  readonly userNo: number;
  readonly faults: ProgramFaults;
}

/** The verdict of one read of `Answer`: all of it belongs to one moment. */
export function verdictOfAnswer(answer: Answer, reader: Reader): Verdict {
  const { my, userNo } = reader;
  if (answer.accepted === my) {
    if (answer.by !== userNo) return { kind: "others" };
    if (answer.done !== my) return { kind: "under_way" };
    return { kind: "ended", ending: answer.outcome ?? "unknown" };
  }
  if (answer.done === my) return { kind: "look" };
  return verdictOfClosed(answer, reader);
}

/**
 * The verdict of tags that were read one by one. Each of the three cycles began after the one before had
 * ended. `DoneId` or `AcceptedId` is seen in the first, what belongs to it in the second, and `AcceptedId` is
 * my number still in the third.
 */
export function verdictOfTags(cycles: readonly Answer[], reader: Reader): Verdict {
  const { my, userNo, faults } = reader;
  const [last, middle, first] = cycles;
  if (last === undefined) return { kind: "none" };
  if (faults.believesTornResult && last.done === my && last.accepted === my && last.by === userNo) {
    return { kind: "ended", ending: last.outcome ?? "unknown" };
  }
  if (faults.believesTornUser && last.accepted === my && last.by !== userNo) return { kind: "others" };
  const isSeen = first?.accepted === my || first?.done === my;
  if (middle !== undefined && isSeen && last.accepted === my && middle.by !== userNo)
    return { kind: "others" };
  if (middle !== undefined && first?.done === my) {
    return last.accepted === my ? { kind: "ended", ending: middle.outcome ?? "unknown" } : { kind: "look" };
  }
  if (cycles.some((cycle) => cycle.done === my) || last.accepted === my) return { kind: "under_way" };
  return verdictOfClosed(last, reader);
}

/** The verdict that the gateway gives, for a program of the five rules. */
export function verdictOfEcho({ echo, verdict, ending }: Answer, { my, faults }: Reader): Verdict {
  if (echo !== my && !faults.ignoresEcho) return { kind: "none" };
  switch (verdict) {
    case "none":
    case "open":
      return { kind: "none" };
    case "under_way":
      return { kind: "under_way" };
    case "ended":
      return { kind: "ended", ending: ending ?? "unknown" };
    case "never_sent":
      return { kind: "closed" };
    case "look_first":
      return { kind: "look" };
  }
}

function verdictOfClosed(
  { closed, rejected, looksAtRobot }: Answer,
  { my, faults }: Pick<Reader, "my" | "faults">,
): Verdict {
  if (faults.readsRejectedOnly) {
    if (rejected !== my) return { kind: "none" };
    return looksAtRobot ? { kind: "look" } : { kind: "closed" };
  }
  if (closed.includes(my)) return { kind: "closed" };
  return closed.includes(-my) ? { kind: "look" } : { kind: "none" };
}

/** Whether `NextId` is a new number for a program whose last one was `my` (rule 3). */
export function isNew({ next, accepted, done, closed }: Answer, my: number, faults: ProgramFaults): boolean {
  if (next === 0) return false;
  if (faults.ignoresNewness) return true;
  return next !== my && next !== accepted && next !== done && !closed.includes(next);
}
