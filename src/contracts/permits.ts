import type { Source } from "../domain/command.ts";
import type { Outcome } from "../domain/outcome.ts";

/** What a station's permit says now. */
export interface PermitState {
  /** False: no configuration asks for a permit of this station, so it is always given. */
  readonly isRequired: boolean;
  /** Whether starts towards the station's destinations may leave. */
  readonly isGiven: boolean;
  /** Why it is not given, in words that follow the station's name; empty where it is. */
  readonly reason: string;
}

/**
 * Permits: the standing word of a station's PLC that robots may come. Where the configuration requires one,
 * no start towards the station's destinations leaves without it, whoever sends it. It needs a heartbeat, and
 * does not outlive the gateway. Stops pass. A permit is no safety function.
 */
export interface Permits {
  /** The level that a user of the station has written. Null when it is taken, otherwise the refusal. */
  write(station: string, source: Source, isGiven: boolean): Outcome | null;
  /** The heartbeat of this user of the station has changed. It keeps the permit that the user has written. */
  heartbeat(station: string, source: Source): void;
  permitOf(station: string): PermitState;
}
