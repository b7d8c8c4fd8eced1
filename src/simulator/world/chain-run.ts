import { type Chain, type ChainStatus, executingTask, type Task, type TaskStatus } from "./chain.ts";
import type { WorldContext } from "./context.ts";
import type { ConveyorRules } from "./conveyor-rules.ts";
import type { Motion, Travel } from "./motion.ts";
import type { Robot } from "./robot.ts";

/** Executes chains: each task in its turn, by the robot that chain-orders.ts chose. */
export interface ChainRun {
  start(robot: Robot, chain: Chain): void;
  /** Completes the confirmation for which the chain waits. */
  confirm(chain: Chain, by: string): void;
  /** Ends a chain, with or without a robot. */
  end(chain: Chain, status: ChainStatus, by: string): void;
}

/** Runs the chains of a world. `onFree` is called with a robot that has finished its chain. */
export function createChainRun(
  world: WorldContext,
  motion: Motion,
  travel: Travel,
  conveyors: ConveyorRules,
  onFree: (robot: Robot) => void,
): ChainRun {
  const setTask = (chain: Chain, task: Task, status: TaskStatus, by: string) => {
    const nowMs = world.agenda.nowMs();
    task.status = status;
    task.awaitsConfirmation = false;
    if (status === "executing") task.startedMs = nowMs;
    else task.finishedMs = nowMs;
    if (chain.robot !== undefined) chain.robot.taskId = status === "executing" ? task.id : 0;
    const fact = { what: "task", chainId: chain.id, taskId: task.id, status, by } as const;
    world.record.add(chain.robot?.id ?? "", fact);
  };

  const setChain = (chain: Chain, status: ChainStatus, by: string) => {
    chain.status = status;
    world.record.add(chain.robot?.id ?? "", { what: "chain", chainId: chain.id, status, by });
  };

  const nextTask = (robot: Robot, chain: Chain) => {
    const task = chain.tasks.find((candidate) => candidate.status === "waiting");
    if (task === undefined) return end(chain, "completed", "progress");
    task.amrId = robot.amrId;
    setTask(chain, task, "executing", "progress");
    world.changed({ kind: "chain", chain });
    robot.bound = task.target;
    const { target } = task;
    if (target === undefined) return atPoint(robot, chain, task);
    travel.go(robot, target, {
      // The interface has no field for the stages of a task.
      notify: () => {},
      isOver: () => task.status !== "executing",
      arrived: () => atPoint(robot, chain, task),
    });
  };

  const atPoint = (robot: Robot, chain: Chain, task: Task) => {
    if (task.kind === "confirm") {
      task.awaitsConfirmation = true;
      world.changed({ kind: "chain", chain });
      return;
    }
    motion.work(robot, world.rules.taskMs, () => {
      moveLoad(robot, task.kind === "load");
      complete(robot, chain, task, "progress");
    });
  };

  /** A cart puts a task's load on its first free conveyor, and unloads its first load. */
  const moveLoad = (robot: Robot, loading: boolean) => {
    robot.loaded = loading;
    const conveyor = robot.conveyors.find(({ installed, loaded }) => installed && loaded !== loading);
    if (conveyor !== undefined) conveyors.setLoaded(robot, conveyor.index, loading);
  };

  const complete = (robot: Robot, chain: Chain, task: Task, by: string) => {
    setTask(chain, task, "completed", by);
    nextTask(robot, chain);
  };

  const end = (chain: Chain, status: ChainStatus, by: string) => {
    const { robot } = chain;
    for (const task of chain.tasks) {
      const open = task.status === "waiting" || task.status === "executing";
      if (open) setTask(chain, task, status === "failed" ? "failed" : "canceled", by);
    }
    chain.finishedMs = world.agenda.nowMs();
    setChain(chain, status, by);
    if (robot !== undefined) {
      motion.abandon(robot);
      robot.body.halts.delete("chain-paused");
      robot.body.haltAtWaypoint = false;
      robot.bound = undefined;
      robot.chainId = 0;
    }
    world.changed({ kind: "chain", chain });
    if (robot !== undefined) onFree(robot);
  };

  return {
    start(robot, chain) {
      robot.chainId = chain.id;
      chain.robot = robot;
      chain.amrId = robot.amrId;
      chain.startedMs = world.agenda.nowMs();
      setChain(chain, "in-progress", "progress");
      nextTask(robot, chain);
    },
    confirm(chain, by) {
      const task = executingTask(chain);
      const { robot } = chain;
      if (task === undefined || robot === undefined) return;
      setTask(chain, task, "completed", by);
      // A robot that is paused here begins the next task when it is resumed.
      motion.work(robot, 0, () => nextTask(robot, chain));
      world.changed({ kind: "chain", chain });
    },
    end,
  };
}
