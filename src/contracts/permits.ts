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
  permitOf(station: string): PermitState;
}
