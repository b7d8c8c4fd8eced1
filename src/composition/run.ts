import type { Config, RunningConfig } from "../config/load.ts";
import type { SimulatedFaults } from "../contracts/simulated-faults.ts";
import type { QueueLimits } from "../delivery/feed.ts";
import type { Outbox } from "../delivery/outbox/outbox.ts";
import type { FleetEvent } from "../domain/event.ts";
import { createStartRetry, type RandomSource, type StartRetry, startOnce } from "../platform/backoff.ts";
import type { Clock } from "../platform/clock.ts";
import type { Health } from "../platform/component.ts";
import { freeBytes } from "../platform/disk-health.ts";
import type { Readiness } from "../platform/liveness.ts";
import type { Log, LogLevels } from "../platform/log.ts";
import { createRecorder, type Recorder } from "../platform/recorder/recorder.ts";
import { noTap, type RecorderTap } from "../platform/recorder/recording.ts";
import type { RunningTime } from "../platform/running-time.ts";
import type { WorkTimes } from "../platform/work-times.ts";
import { version } from "../version.ts";
import type { Cluster } from "./cluster.ts";
import type { ConfigurationSource, ReloadGate } from "./reload.ts";
import type { Stores } from "./stores.ts";

/** What the gateway gets from its caller. */
export interface Surroundings {
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
  /** The levels of the log; absent: they do not change. */
  readonly logLevels?: LogLevels;
  /** Whether the program is on trial, and sends only stops and reads; absent: it is not. */
  readonly isOnTrial?: () => boolean;
  /** The health of other components in this process, by name. */
  readonly ownHealth?: () => Readonly<Record<string, Health>>;
  /** Times the work of each component; absent: it is not timed. */
  readonly work?: WorkTimes;
  /** The faults of the simulated fleet service beside the gateway; absent: there is none. */
  readonly simulatedFaults?: SimulatedFaults;
  /** Absent: the configuration is not read again. */
  readonly configuration?: ConfigurationSource;
  /** When the program was built, by which the clock is judged; absent: not known. */
  readonly builtAt?: Date | null;
  /**
   * Another member of the cluster may lead: ends the process at once, so that nothing of it reaches the
   * service any more. A member of a cluster needs it.
   */
  readonly leadershipLost?: () => void;
  /** Somebody looks on: a listener that cannot listen ends the gateway; absent: it tries again. */
  readonly isAttended?: true;
}

/** One run of the gateway in its data folder, before a module is made. */
export interface Run {
  readonly config: RunningConfig;
  readonly surroundings: Surroundings;
  readonly work: WorkTimes;
  /** Identifies this run, so that the remains of an earlier one are recognised. */
  readonly sessionId: string;
  readonly stores: Stores;
  /** Events wait there for the broker; null: no JSON topics. */
  readonly outbox: Outbox | null;
  /** The same for Sparkplug; null: it is off. */
  readonly sparkplugOutbox: Outbox | null;
  readonly recordings: Recordings;
  /** Null: this gateway is the only one. */
  readonly cluster: Cluster | null;
  readonly readiness: Readiness;
  readonly reloads: ReloadGate;
}

/** For the start of a component with this name in the log. */
export function startRetry(
  part: string,
  clock: Clock,
  { config: { fleet }, surroundings: { random, log, isAttended } }: Pick<Run, "config" | "surroundings">,
): StartRetry {
  if (isAttended === true) return startOnce;
  const { backoffBaseMs, backoffCapMs } = fleet.times;
  const backoff = { baseMs: backoffBaseMs, capMs: backoffCapMs };
  return createStartRetry({ backoff, clock, random, log: log.child({ part }) });
}

/** The bounds of a northbound's queue. */
export const QUEUE: QueueLimits = { changes: 200_000, events: 50_000, perTurn: 500 };

/** The recorder of a gateway, for the other modules. */
export interface Recordings {
  /** Null: switched off. */
  readonly recorder: Recorder | null;
  readonly tap: RecorderTap;
  /** Saves the last minutes soon if one of these events is an alarm that is severe enough. */
  look(events: readonly FleetEvent[]): void;
}

/** From the severity of a lost robot or a failed mission on: a low battery needs no recording. */
const LEAST_SEVERITY = 500;

export function createRecordings(
  { recorder: options }: Pick<Config, "recorder">,
  { clock, time, log }: { readonly clock: Clock; readonly time: RunningTime; readonly log: Log },
): Recordings {
  if (options === null) return { recorder: null, tap: noTap, look() {} };
  const parts = { clock, time, log: log.child({ part: "recorder" }), freeBytes, version };
  const recorder = createRecorder(options, parts);
  return {
    recorder,
    tap: recorder.tap,
    look(events) {
      for (const event of events) {
        if (event.kind !== "alarm" || event.to !== "active") continue;
        const { code, severity, text } = event.alarm;
        if (severity >= LEAST_SEVERITY) recorder.alarm(`${code}: ${text}`);
      }
    },
  };
}
