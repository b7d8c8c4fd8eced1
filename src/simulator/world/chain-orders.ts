import { invalid, Refusal } from "../refusal.ts";
import {
  type Chain,
  type ChainOrder,
  executingTask,
  isChainOver,
  MOST_TASKS,
  type Task,
  type TaskOrder,
} from "./chain.ts";
import type { ChainRun } from "./chain-run.ts";
import type { WorldContext } from "./context.ts";
import type { Motion } from "./motion.ts";
import { activeMission, isFlat, type Robot } from "./robot.ts";

/** Chains that are over are kept for queries, up to this many. */
const KEPT_CHAINS = 2_000;
/** How many chains may wait for a robot. */
const WAITING_CHAINS = 1_000;

/**
 * The task-chain operations on a world. An operation that throws a Refusal has changed nothing. `by` names
 * the cause in the record.
 */
export interface ChainOrders extends ChainPause {
  get(chainId: number): Chain | undefined;
  /** The chain that the robot executes; refused if there is none. */
  chainOf(robot: Robot): Chain;
  /**
   * Takes a chain. It starts at once if a candidate is free, otherwise when one becomes free.
   *
   * @returns its id
   */
  add(order: ChainOrder, by: string): number;
  /**
   * Puts tasks at `sequence`, counted from 1; the old tasks from there on come behind them, or are dropped.
   */
  reassign(
    chain: Chain,
    sequence: number,
    isRetained: boolean,
    tasks: readonly TaskOrder[],
    by: string,
  ): void;
  /** Completes the confirmation for which the chain waits. */
  finish(chain: Chain, by: string): void;
  cancel(chain: Chain, force: boolean, by: string): void;
  /** A robot may be free: the waiting chain of highest priority starts, of equal ones the oldest. */
  offer(robot: Robot): void;
  /** The robot cannot go on with its chain. */
  fail(robot: Robot, by: string): void;
}

/** The task chains of a world. */
export function createChainOrders(world: WorldContext, motion: Motion, run: ChainRun): ChainOrders {
  const chains = new Map<number, Chain>();
  const waiting = new Set<Chain>();
  let nextChainId = 1;
  let nextTaskId = 1;

  const newTask = (order: TaskOrder): Task => ({
    ...order,
    id: nextTaskId++,
    createdMs: world.agenda.nowMs(),
    status: "waiting",
    startedMs: undefined,
    finishedMs: undefined,
    amrId: 0,
    awaitsConfirmation: false,
  });

  /** Evicts the oldest chains that are over. */
  const evict = () => {
    if (chains.size <= KEPT_CHAINS + WAITING_CHAINS) return;
    for (const chain of chains.values()) {
      if (!isChainOver(chain)) continue;
      chains.delete(chain.id);
      if (chains.size <= KEPT_CHAINS) return;
    }
  };

  const chainOf = (robot: Robot): Chain => {
    const chain = chains.get(robot.chainId);
    if (chain === undefined) {
      throw new Refusal("FAILED_PRECONDITION", `robot ${robot.id} is not executing a task chain`);
    }
    return chain;
  };

  const begin = (robot: Robot, chain: Chain) => {
    waiting.delete(chain);
    run.start(robot, chain);
  };

  return {
    get: (chainId) => chains.get(chainId),
    chainOf,
    add(order, by) {
      if (waiting.size >= WAITING_CHAINS) {
        throw new Refusal("FAILED_PRECONDITION", `${WAITING_CHAINS} task chains wait already`);
      }
      const chain: Chain = {
        ...order,
        id: nextChainId++,
        createdMs: world.agenda.nowMs(),
        tasks: order.tasks.map(newTask),
        status: "waiting",
        startedMs: undefined,
        finishedMs: undefined,
        robot: undefined,
      };
      chains.set(chain.id, chain);
      waiting.add(chain);
      evict();
      const asked = order.candidates.length === 1 ? (order.candidates[0]?.id ?? "") : "";
      world.record.add(asked, { what: "chain", chainId: chain.id, status: "waiting", by });
      const robot = order.candidates.find(isFree);
      if (robot === undefined) world.changed({ kind: "chain", chain });
      else begin(robot, chain);
      return chain.id;
    },
    reassign(chain, sequence, isRetained, tasks, by) {
      const [kept, retained] = splitTasks(chain, sequence, isRetained, tasks.length);
      chain.tasks = [...kept, ...tasks.map(newTask), ...retained];
      world.record.add(chain.robot?.id ?? "", { what: "chain", chainId: chain.id, status: "reassigned", by });
      world.changed({ kind: "chain", chain });
    },
    finish(chain, by) {
      if (executingTask(chain)?.awaitsConfirmation !== true) {
        throw new Refusal("FAILED_PRECONDITION", `chain ${chain.id} waits for no confirmation`);
      }
      run.confirm(chain, by);
    },
    cancel(chain, force, by) {
      refuseOver(chain);
      if (!force && executingTask(chain) !== undefined) {
        throw new Refusal(
          "FAILED_PRECONDITION",
          `a task of chain ${chain.id} is executing: cancel needs force`,
        );
      }
      waiting.delete(chain);
      run.end(chain, "canceled", by);
    },
    ...createChainPause(world, motion, chainOf),
    offer(robot) {
      if (waiting.size === 0 || !isFree(robot)) return;
      const first = [...waiting]
        .filter((chain) => chain.candidates.includes(robot))
        .sort((a, b) => b.labels.priority - a.labels.priority || a.id - b.id)[0];
      if (first !== undefined) begin(robot, first);
    },
    fail(robot, by) {
      const chain = chains.get(robot.chainId);
      if (chain !== undefined) run.end(chain, "failed", by);
    },
  };
}

/** Whether a chain can be given to a robot now. */
function isFree(robot: Robot): boolean {
  return robot.online && !isFlat(robot) && robot.chainId === 0 && activeMission(robot) === undefined;
}

function refuseOver(chain: Chain): void {
  if (isChainOver(chain)) throw new Refusal("FAILED_PRECONDITION", `chain ${chain.id} is ${chain.status}`);
}

/** The tasks before and behind `added` new ones that are put at `sequence`, counted from 1. */
function splitTasks(
  chain: Chain,
  sequence: number,
  isRetained: boolean,
  added: number,
): readonly [before: readonly Task[], behind: readonly Task[]] {
  refuseOver(chain);
  if (sequence > chain.tasks.length + 1) {
    throw invalid(`sequence ${sequence}: the chain has ${chain.tasks.length} tasks`);
  }
  const behind = chain.tasks.slice(sequence - 1);
  if (behind.some((task) => task.status !== "waiting")) {
    throw new Refusal("FAILED_PRECONDITION", `task ${sequence} of chain ${chain.id} is executing or done`);
  }
  const kept = chain.tasks.slice(0, sequence - 1);
  const retained = isRetained ? behind : [];
  if (kept.length + added + retained.length > MOST_TASKS) {
    throw invalid(`a chain has at most ${MOST_TASKS} tasks`);
  }
  return [kept, retained];
}

/** Pauses and resumes robots in their task chains. Each refuses for a robot without one. */
interface ChainPause {
  /** Halts the robot in its chain: at once, or at the next waypoint. */
  pause(robot: Robot, stopNow: boolean, by: string): void;
  resume(robot: Robot, by: string): void;
}

/** @param chainOf returns the chain that a robot executes; throws a Refusal if there is none */
function createChainPause(world: WorldContext, motion: Motion, chainOf: (robot: Robot) => Chain): ChainPause {
  const note = (robot: Robot, status: "paused" | "resumed", by: string) =>
    world.record.add(robot.id, { what: "chain", chainId: chainOf(robot).id, status, by });

  return {
    pause(robot, stopNow, by) {
      chainOf(robot);
      if (robot.body.halts.has("chain-paused")) {
        throw new Refusal("FAILED_PRECONDITION", `robot ${robot.id} is paused already`);
      }
      note(robot, "paused", by);
      robot.body.haltAtWaypoint = false;
      if (stopNow) motion.halt(robot, "chain-paused");
      else motion.haltAtWaypoint(robot);
    },
    resume(robot, by) {
      chainOf(robot);
      const { body } = robot;
      if (!body.halts.has("chain-paused") && !body.haltAtWaypoint) {
        throw new Refusal("FAILED_PRECONDITION", `robot ${robot.id} is not paused`);
      }
      note(robot, "resumed", by);
      body.haltAtWaypoint = false;
      motion.release(robot, "chain-paused");
    },
  };
}
