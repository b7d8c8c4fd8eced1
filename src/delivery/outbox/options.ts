/** How much the outbox keeps, and how fast it hands over what has waited. */
export interface OutboxOptions {
  /** Events of robots, and as many of commands. Beyond it, the oldest of the one with most are dropped. */
  readonly maxEvents: number;
  /** An event that has waited longer is dropped, in milliseconds. */
  readonly maxAgeMs: number;
  /** Events a second that have waited for the broker. */
  readonly replayRate: number;
}
