import { randomUUID } from "node:crypto";
import { whyNotReady } from "../cluster/protocol/unled.ts";
import type { AuditSink } from "../commands/audit/audit.ts";
import type { HandoverSteps } from "../commands/handover.ts";
import type {
  ClusterMember,
  ClusterView,
  HandoverAnswer,
  HandoverControl,
  HandoverLeg,
  HandoverReport,
  HandoverRequest,
  OtherMember,
  Takeover,
} from "../contracts/cluster.ts";
import { holderName } from "../domain/hold.ts";
import { type Clock, every, sleep } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";

/** What a leader that hands over leaves for its successor. */
interface Note {
  readonly id: string;
  readonly by: string;
  /** The member that leads again at the end of the drill; null: it is none. */
  readonly backTo: string | null;
  /** What was before in the same drill. */
  readonly legs: readonly HandoverLeg[];
  readonly left: Omit<HandoverLeg, "from" | "to" | "at" | "robots_in_doubt">;
}

export interface HandoverParts {
  readonly view: ClusterView;
  readonly others: () => readonly OtherMember[];
  /** While it is true, this member takes stops only, though it leads. */
  readonly standAside: (isAside: boolean) => void;
  /** Resolves when the others know what this member has kept, or after some seconds. */
  readonly settled: () => Promise<void>;
  /** Lets another member lead. The process ends. */
  readonly resign: (note: unknown) => Promise<void>;
  readonly steps: HandoverSteps;
  readonly audit: AuditSink;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** A leased conveyor that turns may finish for so long. */
const CONVEYORS_MS = 30_000;
/** After that, a conveyor that was stopped is seen to stand within this time. */
const STANDS_MS = 3_000;
const LOOK_MS = 100;
/** No command is refused for longer than a second, takeover included. */
const SETTLE_MS = 500;
/** The answers of what was refused leave the process. */
const LAST_WORDS_MS = 50;
/** The least time for which the other member leads in a drill. */
const DRILL_MS = 10_000;
/** A drill whose first leader does not come back ends there. */
const LONGEST_DRILL_MS = 300_000;

/** The handover by which this member has come to lead; null: it leads for another reason. */
export function reportOf(
  takeover: Takeover | null,
  to: string,
  robotsInDoubt: number,
  nowMs: number,
): HandoverReport | null {
  if (takeover?.why !== "planned" || takeover.note === null) return null;
  const { id, by, backTo, legs, left } = takeover.note as Note;
  const leg: HandoverLeg = {
    ...left,
    ...{ from: takeover.from, to, at: new Date(nowMs).toISOString() },
    refused_ms: left.refused_ms + Math.round(takeover.tookMs ?? 0),
    robots_in_doubt: robotsInDoubt,
  };
  return { id, by, drill: backTo !== null || legs.length > 0, legs: [...legs, leg] };
}

/** @param own the handover by which this member leads; null: it does not, or for another reason */
export function createHandovers(parts: HandoverParts, own: () => HandoverReport | null): HandoverControl {
  const { view, others, standAside, settled, resign, steps, audit, clock, log, signal } = parts;
  let step: string | null = null;
  let problem: string | null = null;

  async function rest(limitMs: number): Promise<void> {
    const untilMs = clock.monotonicMs() + limitMs;
    while (steps.turning() > 0 && clock.monotonicMs() < untilMs) await sleep(clock, LOOK_MS, signal);
  }

  /** Ends the process, or returns why this member goes on to lead. */
  async function handOver(to: string, note: Omit<Note, "left">): Promise<string> {
    const beganMs = clock.monotonicMs();
    step = "waits until no conveyor turns";
    await rest(CONVEYORS_MS);
    const stopped = steps.turning();
    if (stopped > 0) {
      step = "stops conveyors";
      steps.stopConveyors();
      await rest(STANDS_MS);
    }
    const waitedMs = clock.monotonicMs() - beganMs;
    const refusal = refusalOf(view, others(), to);
    if (refusal !== null) return refusal;
    step = "waits until the other box knows all";
    // What comes after this is little, and commands are refused meanwhile.
    await settled();
    step = "waits for the answers of the service";
    const asideMs = clock.monotonicMs();
    standAside(true);
    const { notSent, underWay } = await steps.settle(SETTLE_MS);
    await sleep(clock, LAST_WORDS_MS, signal);
    step = `lets ${to} lead`;
    const left: Note["left"] = {
      waited_ms: Math.round(waitedMs),
      conveyors_stopped: stopped,
      refused_ms: Math.round(clock.monotonicMs() - asideMs),
      commands_not_sent: notSent,
      commands_under_way: underWay,
    };
    await resign({ ...note, left } satisfies Note);
    standAside(false);
    return "it could not be written to etcd";
  }

  function start(to: string, note: Omit<Note, "left">): void {
    problem = null;
    log.info({ to, by: note.by, id: note.id }, "this member hands over");
    void handOver(to, note).then((reason) => {
      step = null;
      problem = reason;
      log.error({ to, reason }, "this member has not handed over");
    });
  }

  function begin({ source, to: wanted, isDrill }: HandoverRequest): HandoverAnswer {
    const to = wanted ?? (view.members.find(({ name }) => name !== view.member)?.name || "");
    const reason = step === null ? refusalOf(view, others(), to) : `a handover goes on: it ${step}`;
    const id = randomUUID();
    audit({
      at: new Date(clock.nowMs()).toISOString(),
      event: "handover",
      protocol: source.protocol,
      user: source.name,
      operation: isDrill ? "drill" : "handover",
      from: view.member,
      to,
      outcome: reason === null ? "succeeded" : "refused",
      ...(reason === null ? { id } : { message: reason }),
    });
    if (reason !== null) return { ok: false, reason };
    start(to, { id, by: holderName(source), backTo: isDrill ? view.member : null, legs: [] });
    return { ok: true, id, from: view.member, to };
  }

  watchDrill(parts, own, {
    isBusy: () => step !== null,
    handBack: (to, note) => start(to, note),
    giveUp(to) {
      problem = `${to} has not come back to lead`;
      log.error({ to }, "the drill ends: nobody is there to hand back to");
    },
  });

  return {
    begin,
    state() {
      const leading = others().find(({ leads }) => leads !== null);
      const last = view.isActive() ? own() : (leading?.facts?.handover ?? null);
      return { member: view.member, leader: view.leader(), step, problem, last };
    },
  };
}

/** The second half of a drill: hands back when the first leader stands by again. */
function watchDrill(
  { view, others, steps, clock, signal }: HandoverParts,
  own: () => HandoverReport | null,
  drill: {
    readonly isBusy: () => boolean;
    readonly handBack: (to: string, note: Omit<Note, "left">) => void;
    readonly giveUp: (to: string) => void;
  },
): void {
  let ledSinceMs: number | null = null;
  let isOver = false;
  const isReady = (to: string) => refusalOf(view, others(), to) === null && steps.robotsInDoubt() === 0;

  every(clock, LOOK_MS, signal, () => {
    const report = own();
    if (isOver || drill.isBusy() || report === null || !view.isActive()) return;
    const { id, by, legs } = report;
    const [first] = legs;
    if (!report.drill || first === undefined || legs.length > 1) return;
    const nowMs = clock.monotonicMs();
    ledSinceMs ??= nowMs;
    const isLong = nowMs - ledSinceMs > LONGEST_DRILL_MS;
    if (!isLong && (nowMs - ledSinceMs < DRILL_MS || !isReady(first.from))) return;
    isOver = true;
    if (isLong) drill.giveUp(first.from);
    else drill.handBack(first.from, { id, by, backTo: null, legs });
  });
}

/** Why `to` cannot lead in place of this member now; null: it can. */
function refusalOf(
  view: Pick<ClusterView, "member" | "members" | "leader" | "isActive">,
  others: readonly OtherMember[],
  to: string,
): string | null {
  const { member, members } = view;
  const leader = view.leader();
  const names = members.map(({ name }: ClusterMember) => name);
  if (leader !== member)
    return leader === null ? "nobody leads at this moment" : `${leader} leads: run it there`;
  if (!names.includes(to)) return `there is no member ${to}: the members are ${names.join(" and ")}`;
  if (to === member) return `${member} leads already`;
  if (!view.isActive()) return `${member} has no proof that it leads: look whether etcd has a majority`;
  const other = others.find(({ name }) => name === to);
  if (other === undefined)
    return `${to} has not said for some seconds that it stands by: start its gateway, or try again if it runs`;
  return other.hasSession ? null : `${to} could not lead: it ${whyNotReady(other.facts?.unreadable)}`;
}
