import type { Alarm } from "../domain/alarm.ts";
import type { Source } from "../domain/command.ts";
import type { FleetEvent } from "../domain/event.ts";
import type { OutcomeName } from "../domain/outcome.ts";
import type { FleetUpdate, StreamAspect } from "../domain/update.ts";
import type { RobotSummary } from "./fleet-view.ts";

/** Counts what nothing else keeps, at the moment when it happens. Synchronous; never throws. */
export interface Meter {
  /** The state has applied an update of the fleet, with these events as the result. */
  received(update: FleetUpdate, events: readonly FleetEvent[]): void;
  /** A command has its final outcome, or a request was refused. */
  commandEnded(command: EndedCommand): void;
}

export interface EndedCommand {
  readonly protocol: Source["protocol"];
  /** As its sender wrote it if the request was refused: any text. */
  readonly operation: string;
  readonly outcome: OutcomeName;
  /** From its acceptance to its outcome, on the monotonic clock; null: this run has not sent it. */
  readonly durationMs: number | null;
}

/** The counts of one kind of stream since the start. */
export interface StreamReadings {
  readonly messages: number;
  readonly repeats: number;
  readonly missed: number;
  readonly outdated: number;
  readonly malformed: number;
  readonly resets: number;
  readonly regressed: number;
}

/**
 * What a scrape reads besides the health of the components. Each answer is of the moment when it is asked.
 */
export interface Readings {
  robots(): readonly RobotSummary[];
  streams(): Readonly<Record<StreamAspect, StreamReadings>>;
  /** `changedAtMs`: wall time. */
  link(): { readonly isUp: boolean; readonly changedAtMs: number };
  /** The active and unacknowledged alarms. */
  alarms(): readonly Alarm[];
  /** When the gateway's own certificates end, by their keys. Infinity: the certificate cannot be read. */
  certificateEnds(): ReadonlyArray<{ readonly key: string; readonly endMs: number }>;
  /** Free bytes on the disk of `gateway.dataDir`; null while not known. */
  diskFreeBytes(): number | null;
}
