import type { FleetPort } from "../../contracts/fleet-port.ts";
import type { EvidenceRule } from "../../contracts/operation.ts";
import type { Conveyor } from "../../domain/conveyor.ts";
import type { MissionQueue } from "../../domain/mission.ts";
import type { Observed } from "../../domain/observed.ts";
import type { Outcome } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Log } from "../../platform/log.ts";
import { createLateFindings, type LateFindingParts } from "./late-findings.ts";
import { createOpenWatches, type OpenWatch } from "./open-watches.ts";
import { type SeekParts, seekInAnswers, seekInWatch } from "./seek.ts";
import { createServiceAnswers, type QueryRule } from "./service-answers.ts";
import {
  type SeenTimes,
  seeConveyor,
  seeMissions,
  startWatch,
  type Watch,
  type WatchBaseline,
  type WatchRule,
} from "./watch.ts";

export interface EvidenceSearchParts extends SeekParts, Omit<LateFindingParts, "watches"> {
  readonly port: FleetPort;
  readonly log: Log;
}

/** Finds evidence of what commands did, in what robots send and in what the service answers. */
export interface EvidenceSearch {
  /** Begins to watch, before the call leaves. `sentAtMs` is wall time, as the journal has it. */
  watch(
    commandId: string,
    rule: WatchRule,
    robotId: RobotId,
    baseline: WatchBaseline,
    sentAtMs: number,
  ): void;
  /** The answers from before the call, condensed; null when they could not be had. */
  baseline(rule: QueryRule): Promise<unknown>;
  /** Resolves with what the evidence says, or with `otherwise` when there is none in time. */
  seek(commandId: string, rule: EvidenceRule, baseline: unknown, otherwise: Outcome): Promise<Outcome>;
  /** Ends the watch, or (`isLate`) keeps it a while for findings that are only published as an event. */
  release(commandId: string, isLate: boolean): void;
  missions(robotId: RobotId, observed: Observed<MissionQueue>): void;
  conveyor(robotId: RobotId, observed: Observed<Conveyor>): void;
}

export function createEvidenceSearch(parts: EvidenceSearchParts): EvidenceSearch {
  const { clock, options, attribution } = parts;
  const watches = createOpenWatches();
  const late = createLateFindings({ ...parts, watches });
  const answers = createServiceAnswers(parts.port, parts.log, Math.ceil(options.evidenceMs / 3));

  /**
   * A wall time on the monotonic clock. Right for recent times only: the wall clock may have been set since.
   */
  const monotonicOf = (wallMs: number) => wallMs - (clock.nowMs() - clock.monotonicMs());
  const timesOf = ({ stamp }: Observed<unknown>): SeenTimes => ({
    receivedMs: monotonicOf(stamp.receivedAtMs),
    nowMs: clock.monotonicMs(),
  });

  /** Every watch takes the message in before any of them decides: what fits two is evidence for neither. */
  function update(robotId: RobotId, see: (open: OpenWatch) => Watch): void {
    for (const open of watches.update(robotId, see)) {
      if (open.use.kind === "seeking") open.use.look();
      else late.look(open);
    }
  }

  return {
    watch(commandId, rule, robotId, baseline, sentAtMs) {
      // What an earlier run has sent left before now, whatever the wall clock says.
      const sentMs = Math.min(monotonicOf(sentAtMs), clock.monotonicMs());
      watches.open(commandId, startWatch(rule, robotId, baseline, sentMs));
    },
    baseline: answers.baseline,
    seek(commandId, rule, baseline, otherwise) {
      if (rule.kind === "none") return Promise.resolve(otherwise);
      if (rule.kind === "query") {
        return seekInAnswers(parts, () => answers.judge(rule, baseline), otherwise);
      }
      const open = watches.find(commandId);
      return open === undefined ? Promise.resolve(otherwise) : seekInWatch(parts, open, otherwise);
    },
    release(commandId, isLate) {
      const open = watches.find(commandId);
      if (isLate && open !== undefined) late.begin(open);
      else watches.close(commandId);
    },
    missions(robotId, observed) {
      const times = timesOf(observed);
      update(robotId, ({ watch, commandId }) =>
        seeMissions(watch, observed, (missionId) => attribution.isOthers(missionId, commandId), times),
      );
    },
    conveyor(robotId, observed) {
      const times = timesOf(observed);
      update(robotId, ({ watch }) => seeConveyor(watch, observed, times));
    },
  };
}
