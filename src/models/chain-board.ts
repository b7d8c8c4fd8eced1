import type { StateChange } from "../domain/change.ts";
import type { TaskChain } from "../domain/mission.ts";
import type { Observed } from "../domain/observed.ts";
import type { RobotId } from "../domain/robot.ts";

type ChainChange = Extract<StateChange, { kind: "task_chain" | "task_chain_evicted" }>;

/** Undefined: nothing is known of the chain. */
type ShowChain = (chain: Observed<TaskChain> | undefined) => void;

/** The task chains of the state, for the robots that execute them. */
export interface ChainBoard {
  apply(change: ChainChange): void;
  /**
   * The robot executes this chain from now on (0: none). `show` is called at once if it is another one, and
   * with each change.
   */
  follow(robotId: RobotId, chainId: number, show: ShowChain): void;
  /** Undefined: nothing is known of the chain. */
  get(chainId: number): Observed<TaskChain> | undefined;
}

/** Bounded by the state, which reports each chain that it drops. */
export function createChainBoard(): ChainBoard {
  const chains = new Map<number, Observed<TaskChain>>();
  /** The chain of each robot. A chain may pass from one robot to another. */
  const followed = new Map<RobotId, number>();
  const followers = new Map<number, Map<RobotId, ShowChain>>();

  function leave(robotId: RobotId): void {
    const chainId = followed.get(robotId);
    if (chainId === undefined) return;
    followed.delete(robotId);
    const others = followers.get(chainId);
    others?.delete(robotId);
    if (others?.size === 0) followers.delete(chainId);
  }

  return {
    apply(change) {
      const { chainId } = change;
      if (change.kind === "task_chain") chains.set(chainId, change.observed);
      else chains.delete(chainId);
      for (const show of followers.get(chainId)?.values() ?? []) show(chains.get(chainId));
    },
    follow(robotId, chainId, show) {
      if ((followed.get(robotId) ?? 0) === chainId) return;
      leave(robotId);
      if (chainId !== 0) {
        followed.set(robotId, chainId);
        const others = followers.get(chainId) ?? new Map<RobotId, ShowChain>();
        followers.set(chainId, others.set(robotId, show));
      }
      show(chains.get(chainId));
    },
    get: (chainId) => chains.get(chainId),
  };
}
