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
import type { Chance } from "../platform/backoff.ts";
import type { Clock } from "../platform/clock.ts";
import type { Health } from "../platform/component.ts";
import type { HealthHistory } from "../platform/health-history.ts";
import type { Hang } from "../platform/liveness.ts";
import type { Log, LogLevels } from "../platform/log.ts";
import type { Readiness } from "../platform/readiness.ts";
import type { WorkTimes } from "../platform/work-times.ts";
import type { FleetState } from "../state/fleet-state.ts";
import type { ShownState } from "../state/shown-state.ts";
import type { Recordings } from "./recordings.ts";
import type { ConfigurationSource, Consequence, FindRefusals } from "./reload.ts";
import type { Stores } from "./stores.ts";

/** What the gateway cannot make for itself. */
export interface GatewayParts {
  readonly clock: Clock;
  readonly chance: Chance;
  readonly log: Log;
  /** Of the log; left out: they stay as they are. */
  readonly logLevels?: LogLevels;
  /** The health of what runs beside the gateway in its process, by name. */
  readonly ownHealth?: () => Readonly<Record<string, Health>>;
  /** Where the work of each part is timed; left out: nobody looks. */
  readonly work?: WorkTimes;
  /** Of the simulated fleet service that runs beside the gateway; left out: there is none. */
  readonly simulatedFaults?: SimulatedFaults;
  /** Absent where the configuration is not read again. */
  readonly configuration?: ConfigurationSource;
}

/** Everything that the northbounds share. */
export interface NorthboundParts extends GatewayParts {
  readonly config: RunningConfig;
  readonly work: WorkTimes;
  /** Of the configuration that holds now. */
  readonly configHash: () => string;
  /** Calls this when a reload has changed the configuration. */
  readonly onReload: (follow: Consequence) => void;
  /** Asks this whether a reload may change the configuration. */
  readonly refuseReload: (refusalsOf: FindRefusals) => void;
  readonly reload: ReloadConfiguration;
  /** Names this run, so that what an earlier one left behind is known as such. */
  readonly sessionId: string;
  readonly catalogue: OperationManual;
  readonly state: FleetState;
  readonly fanOut: FanOut;
  /** Where events wait for the broker; null without MQTT. */
  readonly outbox: Outbox | null;
  readonly recordings: Recordings;
  readonly dispatcher: Dispatcher;
  readonly intake: Intake;
  readonly commandLog: CommandLog;
  readonly trends: BatteryTrends & LatencyTrend;
  readonly stores: Stores;
  readonly shown: ShownState;
  readonly isFleetLinkUp: () => boolean;
  readonly health: () => Readonly<Record<string, Health>>;
  /** Wall time since when a part is in its state; null: not known. */
  readonly stateSinceMs: HealthHistory["sinceMs"];
  readonly certificates: OwnCertificates;
  readonly hang: () => Hang | null;
  /** False: what keeps values and their quality true, or hands them over, hangs. */
  readonly areValuesKept: () => boolean;
  readonly readiness: Readiness;
  readonly metrics: Metrics;
}

/** What may wait for a northbound. */
export const QUEUE: QueueLimits = { changes: 200_000, events: 50_000, perTurn: 500 };

/** The intake, whose work at a command counts as the protocol's. */
export function timedIntake({ intake, work }: NorthboundParts, protocol: string): Intake {
  return { ...intake, submit: (...given) => work.time(protocol, () => intake.submit(...given)) };
}

/** What users do about alarms. */
export function alarmsOf({ dispatcher, shown }: Pick<NorthboundParts, "dispatcher" | "shown">): Alarms {
  return { ...dispatcher.alarms, storeProblem: shown.alarmStoreProblem };
}
