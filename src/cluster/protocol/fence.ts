import type { FenceState, OtherMember } from "../../contracts/cluster.ts";
import { type Clock, sleep } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { runProgram } from "../../platform/program.ts";
import type { ClusterOptions } from "../options.ts";
import type { ClusterStore } from "./cluster-store.ts";
import { type Epoch, ledBy } from "./epoch-writer.ts";
import type { Mirror } from "./mirror.ts";
import { decode, LEADER_KEY, LED_KEY, type LeaderRecord, type LedRecord } from "./records.ts";
import type { ProtocolTimes } from "./times.ts";

/**
 * Resolves when the member cannot reach the service any more (null), or with why that is not sure, as the end
 * of a sentence. Never rejects.
 */
export type RunFence = (target: LedRecord) => Promise<string | null>;

/** No member leads before the one that led last has resigned, or is fenced. */
export interface Fencing {
  /**
   * This member must not acquire the leadership yet: an attempt has just failed, or the box that has led need
   * not be fenced if its gateway starts again.
   */
  mustWait(): boolean;
  /** This process has led, and has not resigned. */
  hasLed(): boolean;
  /**
   * Fences who led last, where that is necessary, and notes that this process leads from now on. `lost`:
   * another epoch has begun meanwhile.
   */
  pass(epoch: Epoch): Promise<"passed" | "failed" | "lost">;
  state(): FenceState | null;
  /** An engineer knows that the member is off: it counts as fenced. Returns why that is not possible. */
  confirm(member: string): string | null;
}

interface FencingParts {
  readonly store: ClusterStore;
  readonly mirror: Pick<Mirror, "get" | "subscribe">;
  readonly clock: Clock;
  readonly times: Pick<ProtocolTimes, "retryMs" | "unledMs" | "fenceAfterMs" | "fencePauseMs">;
  readonly identity: LeaderRecord;
  readonly others: () => readonly OtherMember[];
  /** Null: there is no command, and nobody is fenced. */
  readonly run: RunFence | null;
  readonly ended: AbortSignal;
}

export function createFencing(parts: FencingParts): Fencing {
  const { store, mirror, clock, times, identity, others, run, ended } = parts;
  let attempt: { readonly of: LedRecord; readonly problem: string | null } | null = null;
  let retryAtMs = Number.NEGATIVE_INFINITY;
  /** The process that an engineer has confirmed to be off. */
  let confirmed: string | null = null;
  let hasLed = false;
  let freeSinceMs = clock.monotonicMs();
  mirror.subscribe((key, entry) => {
    if (key === LEADER_KEY && entry === null) freeSinceMs = clock.monotonicMs();
  });

  /** Who must be fenced before this member leads; null: nobody. A box does not fence itself. */
  function target(): LedRecord | null {
    const entry = mirror.get(LED_KEY);
    const led = entry === undefined ? null : decode<LedRecord>(entry, "member", "process");
    return run === null || led === null || led.member === identity.member ? null : led;
  }

  /** The gateway of that box runs again: its process of before has ended. */
  function runsAgain({ member, process }: LedRecord): boolean {
    return others().some((each) => each.name === member && each.process !== process);
  }

  /** Null: it is fenced. */
  async function fence(of: LedRecord): Promise<string | null> {
    if (run === null || confirmed === of.process) return null;
    // The alarm stands while it is tried again.
    const before = attempt?.of.process === of.process ? attempt.problem : null;
    attempt = { of, problem: before };
    const problem = await run(of);
    attempt = { of, problem };
    return confirmed === of.process ? null : problem;
  }

  /** Under the guard of the epoch, so a write that comes twice or late does no harm. */
  async function note(epoch: Epoch): Promise<"passed" | "lost"> {
    const led: LedRecord = { ...identity, epoch: epoch.revision };
    const puts = [{ key: LED_KEY, value: JSON.stringify(led) }];
    while (!ended.aborted) {
      const result = await store.commit({ guard: [ledBy(epoch)], parts: [{ when: [], puts }] });
      if (result.kind === "done") return result.parts === null ? "lost" : "passed";
      await sleep(clock, times.retryMs, ended);
    }
    return "lost";
  }

  return {
    mustWait() {
      const of = target();
      if (of === null || confirmed === of.process) return false;
      const nowMs = clock.monotonicMs();
      return nowMs < retryAtMs || nowMs - freeSinceMs < (runsAgain(of) ? times.unledMs : times.fenceAfterMs);
    },
    hasLed: () => hasLed,
    async pass(epoch) {
      const of = target();
      if (of !== null && (await fence(of)) !== null) {
        retryAtMs = clock.monotonicMs() + times.fencePauseMs;
        return "failed";
      }
      attempt = null;
      const noted = await note(epoch);
      hasLed = noted === "passed";
      return noted;
    },
    state() {
      if (attempt === null || target()?.process !== attempt.of.process) return null;
      return { of: attempt.of.member, problem: attempt.problem };
    },
    confirm(member) {
      const of = target();
      const isWaiting = attempt?.problem != null && attempt.of.process === of?.process;
      if (of === null || !isWaiting) return "no fence has failed here: there is nothing to confirm";
      if (of.member !== member) return `${member} has not led last: ${of.member} is to be fenced`;
      if (others().some(({ name }) => name === member))
        return `${member} is not off: its gateway has just been heard, and may lead`;
      confirmed = of.process;
      return null;
    },
  };
}

/** Fences by the command of the configuration; null: there is none. */
export function fenceCommand({ name, fence }: ClusterOptions, clock: Clock, log: Log): RunFence | null {
  if (fence === null) return null;
  const { command, timeoutMs } = fence;
  // Its arguments may contain a password.
  const [program] = command;
  return async ({ member, epoch }) => {
    log.warn({ member, epoch, program }, "another member is fenced before this one leads");
    const env = {
      FLEETGATE_CLUSTER: name,
      FLEETGATE_FENCE_MEMBER: member,
      FLEETGATE_FENCE_EPOCH: String(epoch),
    };
    const { problem, said } = await runProgram({ command, env, timeoutMs }, clock);
    if (problem === null) log.warn({ member, said }, "the other member is fenced");
    else log.error({ member, program, problem, said }, "the other member is not fenced: nobody takes over");
    return problem;
  };
}
