import type { Clock } from "../../platform/clock.ts";
import type { CallEnd, EtcdMember } from "./member.ts";
import type { Done, Failed, Fault, WriteOutcome } from "./outcome.ts";

/** How the answer of an attempt is read. */
type Attempt<Answer> = (member: EtcdMember, limitMs: number) => Promise<CallEnd<Answer>>;

/** Chooses the member for each call. */
export interface Route {
  /** All members, those first that should be tried first. */
  order(): readonly EtcdMember[];
  /** This one is tried first from now on, or the one behind it. */
  prefer(member: EtcdMember): void;
  avoid(member: EtcdMember): void;
  /**
   * Asks one member after the other while nothing was sent or done. What was sent, and got no answer, is
   * repeated only if `repeats`; otherwise it is unsure.
   */
  call<Answer>(repeats: boolean, attempt: Attempt<Answer>): Promise<Ended<Answer>>;
}

export type Ended<Answer> =
  | { readonly kind: "answered"; readonly answer: Answer; readonly endpoint: string }
  | Exclude<WriteOutcome<never>, Done<never>>;

export function createRoute(members: readonly EtcdMember[], clock: Clock, deadlineMs: number): Route {
  let first = 0;

  const order = () => [...members.slice(first), ...members.slice(0, first)];
  const prefer = (member: EtcdMember) => {
    first = members.indexOf(member);
  };
  const avoid = (member: EtcdMember) => {
    if (members[first] === member) first = (first + 1) % members.length;
  };

  return {
    order,
    prefer,
    avoid,
    async call(repeats, attempt) {
      const untilMs = clock.monotonicMs() + deadlineMs;
      let ended: Failed | { kind: "unsure"; fault: Fault } | null = null;
      const note = (kind: "failed" | "unsure", fault: Fault) => {
        // What is unsure once stays so, whatever other members say of not being there.
        ended = { kind: ended?.kind === "unsure" ? "unsure" : kind, fault };
      };
      const tried = order();
      for (const [index, member] of tried.entries()) {
        if (ended !== null && clock.monotonicMs() >= untilMs) break;
        // A member that hangs leaves time for those behind it.
        const shareMs = (untilMs - clock.monotonicMs()) / (tried.length - index);
        const shareUntilMs = clock.monotonicMs() + shareMs;
        const problem = await member.connect(shareMs);
        if (problem !== null) {
          note("failed", problem);
          continue;
        }
        const end = await attempt(member, (repeats ? shareUntilMs : untilMs) - clock.monotonicMs());
        if (end.kind === "answered") {
          prefer(member);
          return { kind: "answered", answer: end.answer, endpoint: member.endpoint };
        }
        avoid(member);
        if (end.kind === "refused") {
          if (end.fault.code !== "NO_LEADER" && end.fault.code !== "NO_CONNECTION") {
            return { kind: "failed", fault: end.fault };
          }
          note("failed", end.fault);
        } else {
          note("unsure", end.fault);
          if (!repeats) break;
        }
      }
      if (ended === null) throw new Error("etcd needs an endpoint");
      return ended;
    },
  };
}
