import type { Outcome } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";
import { placeAt } from "../../domain/station-sight.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Live } from "../../platform/live.ts";
import type { Observations } from "../evidence/observations.ts";
import type { StationOptions } from "../options.ts";

export interface PermitPauseParts {
  readonly clock: Clock;
  readonly observations: Pick<Observations, "sight" | "robots">;
  readonly station: Live<Pick<StationOptions, "destinations">>;
  /** Pauses a mission. Never rejects. */
  readonly pause: (robotId: RobotId, missionId: string) => Promise<Outcome>;
}

/** Pauses robots on their way to a station whose permit is lost: each once for each loss. */
export interface PermitPauses {
  /** The permit is lost: pauses the robots on their way there. */
  begin(): void;
  /** The permit is given again. Nothing is resumed. */
  end(): void;
  /** This robot has sent something: pauses it if it is now on its way there. */
  look(robotId: RobotId): void;
  /** Tries a failed pause again. Call it about once a second. */
  tick(): void;
}

interface Pause {
  state: "under_way" | "done" | "failed";
  readonly atMs: number;
}

const RETRY_MS = 10_000;

export function createPermitPauses(parts: PermitPauseParts): PermitPauses {
  const { clock, observations, station } = parts;
  let isLost = false;
  let paused = new Map<RobotId, Pause>();

  function isDue(pause: Pause | undefined): boolean {
    if (pause === undefined) return true;
    return pause.state === "failed" && clock.monotonicMs() - pause.atMs >= RETRY_MS;
  }

  /** By the last values, whatever their quality: a pause too many harms nobody. */
  function look(robotId: RobotId): void {
    if (!isLost || !isDue(paused.get(robotId))) return;
    const place = placeAt(station.now().destinations, observations.sight(robotId));
    if (place.kind !== "coming" || place.goalsBefore > 0 || !place.isRunning) return;
    const pause: Pause = { state: "under_way", atMs: clock.monotonicMs() };
    paused.set(robotId, pause);
    void parts.pause(robotId, place.missionId).then((outcome) => {
      pause.state = hasFailed(outcome) ? "failed" : "done";
    });
  }

  return {
    begin() {
      isLost = true;
      for (const robotId of observations.robots()) look(robotId);
    },
    end() {
      isLost = false;
      paused = new Map();
    },
    look,
    tick() {
      for (const [robotId, { state }] of paused) if (state === "failed") look(robotId);
    },
  };
}

/** FAILED_PRECONDITION: there is nothing to pause, or it is paused already (docs/service.md, TRN-25). */
function hasFailed({ outcome, code }: Outcome): boolean {
  return outcome !== "succeeded" && outcome !== "probably_succeeded" && code !== "FAILED_PRECONDITION";
}
