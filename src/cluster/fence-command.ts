import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { runProgram } from "../platform/program.ts";
import type { ClusterOptions } from "./options.ts";
import type { RunFence } from "./protocol/fence.ts";

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
