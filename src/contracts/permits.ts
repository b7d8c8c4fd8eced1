import type { Source } from "../domain/command.ts";
import type { Outcome } from "../domain/outcome.ts";

/** The present permit of a station. */
export interface PermitState {
  /** False: the configuration requires no permit for this station, so it is always given. */
  readonly isRequired: boolean;
  /** Whether starts towards the station's destinations may leave. */
  readonly isGiven: boolean;
  /** Why it is not given, in words that follow the station's name; empty: it is given. */
  readonly reason: string;
}

/**
 * Permits: the standing signal of a station's PLC that robots may come. If the configuration requires one, no
 * start to the station's destinations leaves without it, whoever sends it. It needs a heartbeat, and does not
 * outlive the gateway. Stops pass. A permit is no safety function.
 */
export interface Permits {
  /** The level that a user of the station has written. Null: it is accepted; otherwise the refusal. */
  write(station: string, source: Source, isGiven: boolean): Outcome | null;
  /**
   * The heartbeat of this user of the station has changed. It renews the permit that the user has written.
   */
  heartbeat(station: string, source: Source): void;
  permitOf(station: string): PermitState;
}
