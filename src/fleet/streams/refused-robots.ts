import type { RobotId } from "../../domain/robot.ts";
import type { Log } from "../../platform/log.ts";
import type { Selection } from "./aspect.ts";
import type { StreamEnding } from "./stream-call.ts";

/** The part of one stream's selection that the service refuses. The stream's requests leave it out. */
export interface RefusedRobots {
  /** Robots, or the location, each with what the service says. */
  readonly refused: ReadonlyMap<string, string>;
  /** The rest of the selection, to ask for; null: nothing. */
  wanted(): Selection | null;
  /** Finds out which robots a refusal concerns. Resolves with whether something else can be asked for now. */
  sortOut(ending: StreamEnding, signal: AbortSignal): Promise<boolean>;
  /** Asks for the refused robots again. Resolves with whether the service now accepts any of them. */
  reconsider(signal: AbortSignal): Promise<boolean>;
  /** The service has accepted the location's stream. */
  locationTaken(): void;
}

export interface RefusedRobotsParts {
  readonly stream: string;
  readonly log: Log;
  /** Whether the service refuses a stream of these robots, and its message. Rejects with CannotAsk. */
  readonly probe: (
    ids: readonly RobotId[],
    signal: AbortSignal,
  ) => Promise<{ readonly refused: boolean; readonly message: string }>;
  readonly onRefused: (name: string) => void;
}

export function createRefusedRobots(selection: Selection, parts: RefusedRobotsParts): RefusedRobots {
  const { stream, log } = parts;
  const refused = new Map<string, string>();

  function put(name: string, message: string): void {
    if (!refused.has(name)) {
      log.warn({ stream, [selection.kind]: name, message }, "the service refuses what the gateway is for");
    }
    refused.set(name, message);
    parts.onRefused(name);
  }

  async function isRefused(ids: readonly RobotId[], signal: AbortSignal): Promise<boolean> {
    const answer = await parts.probe(ids, signal);
    if (answer.refused && ids.length === 1) for (const robotId of ids) put(robotId, answer.message);
    return answer.refused;
  }

  async function allowedNow(ids: readonly RobotId[], signal: AbortSignal): Promise<readonly RobotId[]> {
    if (!(await isRefused(ids, signal))) return ids;
    const still = new Set(await findRefused(ids, (some) => isRefused(some, signal)));
    return ids.filter((robotId) => !still.has(robotId));
  }

  return {
    refused,
    wanted() {
      if (selection.kind === "location" || refused.size === 0) return selection;
      const ids = selection.ids.filter((robotId) => !refused.has(robotId));
      return ids.length === 0 ? null : { kind: "robots", ids };
    },
    async sortOut(ending, signal) {
      const message = `${ending.code}: ${ending.message}`;
      if (selection.kind === "location") {
        put(selection.locationId, message);
        return false;
      }
      const asked = selection.ids.filter((robotId) => !refused.has(robotId));
      try {
        for (const robotId of await findRefused(asked, (ids) => isRefused(ids, signal))) {
          put(robotId, refused.get(robotId) ?? message);
        }
        return true;
      } catch (error) {
        if (error instanceof CannotAsk) return false;
        throw error;
      }
    },
    async reconsider(signal) {
      const ids = [...refused.keys()];
      if (ids.length === 0) return false;
      try {
        const allowed = await allowedNow(ids, signal);
        for (const robotId of allowed) {
          refused.delete(robotId);
          log.info({ stream, robotId }, "the service allows a robot again");
        }
        return allowed.length > 0;
      } catch (error) {
        // The next try asks again.
        log.debug({ stream, err: error }, "the refused robots could not be asked for");
        return false;
      }
    },
    locationTaken() {
      if (selection.kind === "location") refused.clear();
    },
  };
}

/** The service could not be asked, so it is not known which robots it refuses. */
export class CannotAsk extends Error {
  override readonly name = "CannotAsk";
}

/**
 * The service refuses a selector as a whole, whichever robots are to blame. Finds the refused ones among
 * robots that are refused together, by asking for halves: k among n cost about 2k·log₂(n/k) questions.
 * Rejects with the error of `isRefused`.
 */
async function findRefused(
  ids: readonly RobotId[],
  isRefused: (ids: readonly RobotId[]) => Promise<boolean>,
): Promise<readonly RobotId[]> {
  if (ids.length <= 1) return ids;
  const middle = Math.ceil(ids.length / 2);
  const left = ids.slice(0, middle);
  const right = ids.slice(middle);
  if (!(await isRefused(left))) return findRefused(right, isRefused);
  const found = await findRefused(left, isRefused);
  return (await isRefused(right)) ? [...found, ...(await findRefused(right, isRefused))] : found;
}
