import type { FleetPort } from "../../contracts/fleet-port.ts";
import type { EvidenceQuery, EvidenceRule } from "../../contracts/operation.ts";
import type { Conveyor } from "../../domain/conveyor.ts";
import type { MissionQueue } from "../../domain/mission.ts";
import type { Observed } from "../../domain/observed.ts";
import type { Outcome } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { DispatcherOptions } from "../options.ts";
import {
  type SeenTimes,
  seeConveyor,
  seeMissions,
  startWatch,
  verdict,
  type Watch,
  type WatchBaseline,
  type WatchRule,
} from "./watch.ts";

/** Something was seen of a command whose outcome was already final. */
export type LateFinding = (commandId: string, text: string) => void;

export interface SearchParts {
  readonly port: FleetPort;
  readonly clock: Clock;
  readonly log: Log;
  readonly options: Pick<DispatcherOptions, "evidenceMs" | "settleMs" | "pollMs">;
  /** Whether a mission is known to be another command's than this one's. */
  readonly isOthers: (missionId: string, commandId: string) => boolean;
  /** Whether a mission that is new on this robot may yet turn out to be that of a command under way. */
  readonly isExpected: (robotId: RobotId) => boolean;
  readonly onLate: LateFinding;
}

/** Looks for what became of commands, in what robots send and in what the service answers. */
export interface EvidenceSearch {
  /** Begins to look out, before the call leaves. `sentAtMs` is wall time, as the journal has it. */
  watch(
    commandId: string,
    rule: WatchRule,
    robotId: RobotId,
    baseline: WatchBaseline,
    sentAtMs: number,
  ): void;
  /** The answers from before the call, condensed; null when they could not be had. */
  baseline(rule: Extract<EvidenceRule, { kind: "query" }>): Promise<unknown>;
  /** Resolves with what the evidence says, or with `otherwise` when there is none in time. */
  seek(commandId: string, rule: EvidenceRule, baseline: unknown, otherwise: Outcome): Promise<Outcome>;
  /** Looks no more, or (`late`) a while longer for what is only told as an event. */
  release(commandId: string, late: boolean): void;
  missions(robotId: RobotId, observed: Observed<MissionQueue>): void;
  conveyor(robotId: RobotId, observed: Observed<Conveyor>): void;
  /** Ends every search with what is known. */
  giveUp(): void;
}

interface Lookout {
  readonly commandId: string;
  watch: Watch;
  /** Looks at the watch again; null while nobody waits. */
  check: (() => void) | null;
  lateUntilMs: number | null;
  /** A late finding waits to be told whose it is. */
  isWaiting: boolean;
}

const LATE_MS = 600_000;
/** When a late finding is looked at again: while a command under way may have caused it, and what came just before the end. */
const LOOK_AGAIN_MS = 1_000;
const MAX_LATE = 256;

export function createEvidenceSearch(parts: SearchParts): EvidenceSearch {
  const { port, clock, log, options } = parts;
  const lookouts = new Map<string, Lookout>();
  const byRobot = new Map<RobotId, Set<Lookout>>();
  const late: string[] = [];
  const abandon = new Set<() => void>();

  /** A wall time of a moment ago on the monotonic clock: the wall clock may have been set since long ago, not since then. */
  const steadyMs = (wallMs: number) => wallMs - (clock.nowMs() - clock.monotonicMs());
  const timesOf = ({ stamp }: Observed<unknown>): SeenTimes => ({
    receivedMs: steadyMs(stamp.receivedAtMs),
    nowMs: clock.monotonicMs(),
  });

  function forget(commandId: string): void {
    const lookout = lookouts.get(commandId);
    if (lookout === undefined) return;
    lookouts.delete(commandId);
    const others = byRobot.get(lookout.watch.robotId);
    others?.delete(lookout);
    if (others?.size === 0) byRobot.delete(lookout.watch.robotId);
  }

  /** Updates every look-out on a robot. */
  function update(robotId: RobotId, see: (lookout: Lookout) => Watch): void {
    const changed: Lookout[] = [];
    for (const lookout of byRobot.get(robotId) ?? []) {
      const watch = see(lookout);
      if (watch === lookout.watch) continue;
      lookout.watch = watch;
      changed.push(lookout);
    }
    // When all have seen it: what fits two is evidence for neither.
    for (const lookout of changed) {
      lookout.check?.();
      if (lookout.lateUntilMs !== null) checkLate(lookout, lookout.lateUntilMs);
    }
  }

  /**
   * Streams are faster than answers: what is new may be the mission of the next command, which has left and does not
   * know it yet. It counts when nobody else's it can be.
   */
  function checkLate(lookout: Lookout, untilMs: number): void {
    if (lookouts.get(lookout.commandId) !== lookout || lookout.isWaiting) return;
    const { watch, commandId } = lookout;
    const findings = watch.findings.filter(
      ({ missionId }) => missionId === null || !parts.isOthers(missionId, commandId),
    );
    lookout.watch = { ...watch, findings };
    const said = verdict(lookout.watch, clock.monotonicMs(), 0);
    const isOver = clock.monotonicMs() > untilMs;
    if (said.kind === "found" && !isOver && mayBeAnothers(lookout)) {
      lookAgain(lookout, untilMs);
      return;
    }
    if (said.kind === "found" && !isOver) parts.onLate(commandId, said.text);
    if (said.kind !== "nothing" || isOver) forget(commandId);
  }

  function lookAgain(lookout: Lookout, untilMs: number): void {
    lookout.isWaiting = true;
    clock.after(LOOK_AGAIN_MS, () => {
      lookout.isWaiting = false;
      checkLate(lookout, untilMs);
    });
  }

  /** New missions only: a state that a mission or a conveyor has is no command's own. */
  function mayBeAnothers({ watch, commandId }: Lookout): boolean {
    if (watch.rule.kind !== "new_mission") return false;
    const rivals = [...(byRobot.get(watch.robotId) ?? [])].filter((each) => each.commandId !== commandId);
    const isShared = rivals.some((rival) =>
      rival.watch.findings.some(({ key }) => watch.findings.some((own) => own.key === key)),
    );
    return isShared || parts.isExpected(watch.robotId);
  }

  /** One search: `look` returns the outcome when it knows, and is called again whenever something may have changed. */
  function search(
    otherwise: Outcome,
    begin: (resolve: (outcome: Outcome) => void) => () => void,
  ): Promise<Outcome> {
    return new Promise((resolve) => {
      let end = () => {};
      const settle = (outcome: Outcome) => {
        abandon.delete(giveUp);
        cancel();
        end();
        resolve(outcome);
      };
      const giveUp = () => settle(otherwise);
      const cancel = clock.after(options.evidenceMs, giveUp);
      abandon.add(giveUp);
      end = begin(settle);
    });
  }

  function seekWatch(lookout: Lookout, otherwise: Outcome): Promise<Outcome> {
    return search(otherwise, (settle) => {
      let isSettled = false;
      let cancelLook = () => {};
      const check = () => {
        cancelLook();
        const nowMs = clock.monotonicMs();
        const said = verdict(lookout.watch, nowMs, options.settleMs);
        if (isSettled) return;
        if (said.kind === "nothing") {
          // A finding has to stand alone for a while: look again when it has. Timers may fire a moment early.
          const [first] = lookout.watch.findings;
          const leftMs = first === undefined ? 0 : options.settleMs - (nowMs - first.seenMs);
          if (leftMs > 0) cancelLook = clock.after(Math.max(1, leftMs), check);
          return;
        }
        isSettled = true;
        settle(
          said.kind === "found"
            ? found(otherwise, said.text, said.missionId)
            : withText(otherwise, said.text),
        );
      };
      lookout.check = check;
      const poll = clock.after(0, check);
      return () => {
        isSettled = true;
        poll();
        cancelLook();
        lookout.check = null;
      };
    });
  }

  function seekAnswer(
    rule: Extract<EvidenceRule, { kind: "query" }>,
    baseline: unknown,
    otherwise: Outcome,
  ): Promise<Outcome> {
    return search(otherwise, (settle) => {
      let isSettled = false;
      let next = () => {};
      const ask = async () => {
        const text = await judged(rule, baseline);
        if (isSettled) return;
        if (text === null) next = clock.after(options.pollMs, () => void ask());
        else settle(found(otherwise, text, null));
      };
      void ask();
      return () => {
        isSettled = true;
        next();
      };
    });
  }

  async function judged(
    rule: Extract<EvidenceRule, { kind: "query" }>,
    baseline: unknown,
  ): Promise<string | null> {
    try {
      const answers = await askAll(rule.queries);
      return answers === null ? null : rule.judge(answers, baseline);
    } catch (error) {
      log.warn({ err: error }, "an answer of the service could not be judged as evidence");
      return null;
    }
  }

  async function askAll(queries: readonly EvidenceQuery[]): Promise<readonly unknown[] | null> {
    const answers: unknown[] = [];
    for (const query of queries) {
      const json = query.requestJson(answers);
      if (json === null) return answers;
      const ending = await port.call(query.operation, json, Math.ceil(options.evidenceMs / 3));
      if (ending.kind !== "ok") return null;
      answers.push(JSON.parse(ending.responseJson));
    }
    return answers;
  }

  return {
    watch(commandId, rule, robotId, baseline, sentAtMs) {
      forget(commandId);
      // What a predecessor has sent left before now, whatever the wall clock says.
      const sentMs = Math.min(steadyMs(sentAtMs), clock.monotonicMs());
      const watch = startWatch(rule, robotId, baseline, sentMs);
      const lookout: Lookout = { commandId, watch, check: null, lateUntilMs: null, isWaiting: false };
      lookouts.set(commandId, lookout);
      const others = byRobot.get(robotId) ?? new Set();
      byRobot.set(robotId, others.add(lookout));
    },
    async baseline(rule) {
      if (rule.baseline === undefined) return null;
      try {
        const answers = await askAll(rule.queries);
        return answers === null ? null : rule.baseline(answers);
      } catch (error) {
        log.warn({ err: error }, "an answer of the service could not be kept as the state before a command");
        return null;
      }
    },
    seek(commandId, rule, baseline, otherwise) {
      if (rule.kind === "none") return Promise.resolve(otherwise);
      if (rule.kind === "query") return seekAnswer(rule, baseline, otherwise);
      const lookout = lookouts.get(commandId);
      return lookout === undefined ? Promise.resolve(otherwise) : seekWatch(lookout, otherwise);
    },
    release(commandId, isLate) {
      const lookout = lookouts.get(commandId);
      if (!isLate || lookout === undefined) {
        forget(commandId);
        return;
      }
      lookout.lateUntilMs = clock.monotonicMs() + LATE_MS;
      late.push(commandId);
      const oldest = late.length > MAX_LATE ? late.shift() : undefined;
      if (oldest !== undefined) forget(oldest);
      // Seen too shortly before the end to have stood alone for long enough; told after the outcome.
      if (lookout.watch.findings.length > 0) lookAgain(lookout, lookout.lateUntilMs);
    },
    missions(robotId, observed) {
      const times = timesOf(observed);
      update(robotId, ({ watch, commandId }) =>
        seeMissions(watch, observed, (missionId) => parts.isOthers(missionId, commandId), times),
      );
    },
    conveyor(robotId, observed) {
      const times = timesOf(observed);
      update(robotId, ({ watch }) => seeConveyor(watch, observed, times));
    },
    giveUp() {
      for (const end of [...abandon]) end();
    },
  };
}

function found(otherwise: Outcome, evidence: string, missionId: string | null): Outcome {
  return {
    ...otherwise,
    outcome: "probably_succeeded",
    code: "OK",
    message: `inferred: the call itself ended ${otherwise.code}`,
    evidence,
    missionId,
  };
}

function withText(otherwise: Outcome, text: string): Outcome {
  return { ...otherwise, message: `${otherwise.message} (${text})` };
}
