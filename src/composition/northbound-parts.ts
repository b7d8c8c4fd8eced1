import type { Dispatcher } from "../commands/dispatcher.ts";
import type { Intake } from "../commands/intake/intake.ts";
import type { RunningConfig } from "../config/load.ts";
import type { OwnCertificates } from "../config/own-certificates.ts";
import type { Alarms } from "../contracts/alarms.ts";
import type { CommandLog } from "../contracts/command-log.ts";
import type { OperationManual } from "../contracts/operation-manual.ts";
import type { ReloadConfiguration } from "../contracts/reload.ts";
import type { SimulatedFaults } from "../contracts/simulated-faults.ts";
import type { BatteryTrends, LatencyTrend } from "../contracts/trends.ts";
import type { FanOut } from "../delivery/fan-out.ts";
import type { QueueLimits } from "../delivery/feed.ts";
import type { Outbox } from "../delivery/outbox/outbox.ts";
import type { Metrics } from "../northbound/web/metrics/metrics.ts";
import type { RandomSource } from "../platform/backoff.ts";
import type { Clock } from "../platform/clock.ts";
import type { Health } from "../platform/component.ts";
import type { HealthHistory } from "../platform/health-history.ts";
import type { Live } from "../platform/live.ts";
import type { Hang } from "../platform/liveness.ts";
import type { Log, LogLevels } from "../platform/log.ts";
import type { Readiness } from "../platform/readiness.ts";
import type { WorkTimes } from "../platform/work-times.ts";
import type { FleetState } from "../state/fleet-state.ts";
import type { PlantView } from "../state/plant-view.ts";
import type { Recordings } from "./recordings.ts";
import type { ConfigurationSource, FindRefusals } from "./reload.ts";
import type { Stores } from "./stores.ts";

/** What the gateway gets from its caller. */
export interface GatewayParts {
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
  /** The levels of the log; absent: they do not change. */
  readonly logLevels?: LogLevels;
  /** The health of other components in this process, by name. */
  readonly ownHealth?: () => Readonly<Record<string, Health>>;
  /** Times the work of each component; absent: it is not timed. */
  readonly work?: WorkTimes;
  /** The faults of the simulated fleet service beside the gateway; absent: there is none. */
  readonly simulatedFaults?: SimulatedFaults;
  /** Absent: the configuration is not read again. */
  readonly configuration?: ConfigurationSource;
}

/** The dependencies that all northbounds share. */
export interface NorthboundParts extends GatewayParts {
  readonly config: RunningConfig;
  readonly work: WorkTimes;
  /** Of the present configuration. */
  readonly configHash: Live<string>;
  /** Registers a function that is asked whether a reload may change the configuration. */
  readonly refuseReload: (refusalsOf: FindRefusals) => void;
  readonly reload: ReloadConfiguration;
  /** Identifies this run, so that the remains of an earlier one are recognised. */
  readonly sessionId: string;
  readonly catalogue: OperationManual;
  readonly state: FleetState;
  readonly fanOut: FanOut;
  /** Events wait there for the broker; null: no MQTT. */
  readonly outbox: Outbox | null;
  readonly recordings: Recordings;
  readonly dispatcher: Dispatcher;
  readonly intake: Intake;
  readonly commandLog: CommandLog;
  readonly trends: BatteryTrends & LatencyTrend;
  readonly stores: Stores;
  readonly view: PlantView;
  readonly isFleetLinkUp: () => boolean;
  readonly health: () => Readonly<Record<string, Health>>;
  /** Wall time since when a component has been in its state; null: not known. */
  readonly stateSinceMs: HealthHistory["sinceMs"];
  readonly certificates: OwnCertificates;
  readonly hang: () => Hang | null;
  /** False: a component that keeps values and their quality up to date, or hands them over, is stalled. */
  readonly areValuesKept: () => boolean;
  readonly readiness: Readiness;
  readonly metrics: Metrics;
}

/** The bounds of a northbound's queue. */
export const QUEUE: QueueLimits = { changes: 200_000, events: 50_000, perTurn: 500 };

/** The intake; its work on a command counts as the protocol's. */
export function timedIntake({ intake, work }: NorthboundParts, protocol: string): Intake {
  return { ...intake, submit: (...given) => work.time(protocol, () => intake.submit(...given)) };
}

/** What users do about alarms. */
export function alarmsOf({ dispatcher, view }: Pick<NorthboundParts, "dispatcher" | "view">): Alarms {
  return { ...dispatcher.alarms, storeProblem: view.alarmStoreProblem };
}
