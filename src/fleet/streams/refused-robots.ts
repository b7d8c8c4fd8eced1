import type { RobotId } from "../../domain/robot.ts";
import type { Log } from "../../platform/log.ts";
import type { Selection } from "./aspect.ts";
import { CannotAsk, findRefused } from "./refused.ts";
import type { StreamEnding } from "./stream-ending.ts";

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
