import { describeError } from "../platform/log.ts";
import { PortTaken } from "../platform/port-taken.ts";

/** Exit codes that service managers know (sysexits.h). */
export const exitCodes = { ok: 0, failure: 1, config: 78 } as const;

/** Which option of a command sets the port of a listener. */
export type PortOption = (taken: PortTaken) => string;

/**
 * Says in one line why the command ends, and ends it.
 * @param portOption names what to change when a port is taken
 */
export function fail(error: unknown, portOption: PortOption): never {
  const line =
    error instanceof PortTaken
      ? `port ${error.port} (${error.listener}) is taken: free it, or choose another with ${portOption(error)}`
      : describeError(error);
  process.stderr.write(`fleetgate: ${line}\n`);
  process.exit(exitCodes.failure);
}
