import type { StateChange } from "../../../domain/change.ts";
import type { Observed } from "../../../domain/observed.ts";
import type { RobotId } from "../../../domain/robot.ts";
import type { TaskChain } from "../../../domain/task-chain.ts";

type ChainChange = Extract<StateChange, { kind: "task_chain" | "task_chain_evicted" }>;

/** The known task chains, for the robots that execute them. */
export interface Chains {
  take(change: ChainChange): void;
  /** The robot executes this chain from now on; 0: none. */
  follow(robotId: RobotId, chainId: number): void;
}

/** @param show is called with the chain of a robot when it changes; undefined: none is known */
export function createChains(
  show: (robotId: RobotId, chain: Observed<TaskChain> | undefined) => void,
): Chains {
  const chains = new Map<number, Observed<TaskChain>>();
  const followed = new Map<RobotId, number>();
  const followers = new Map<number, Set<RobotId>>();

  return {
    take(change) {
      const { chainId } = change;
      if (change.kind === "task_chain") chains.set(chainId, change.observed);
      else chains.delete(chainId);
      for (const robotId of followers.get(chainId) ?? []) show(robotId, chains.get(chainId));
    },
    follow(robotId, chainId) {
      const before = followed.get(robotId) ?? 0;
      if (before === chainId) return;
      const others = followers.get(before);
      others?.delete(robotId);
      if (others?.size === 0) followers.delete(before);
      followed.set(robotId, chainId);
      if (chainId !== 0) followers.set(chainId, (followers.get(chainId) ?? new Set()).add(robotId));
      show(robotId, chains.get(chainId));
    },
  };
}
