/** What the outbox's process is told, as its arguments. */
export interface OutboxRequest {
  readonly folder: string;
  readonly mqttPort: number;
  readonly quick: boolean;
}

/** What it has measured. */
export interface OutboxFigures {
  /** 20,000 events in a second, with a broker that takes them. */
  readonly burst: {
    readonly events: number;
    /** From a single event at rest until the broker has acknowledged it. */
    readonly arrivedP99Ms: number;
    /** From the first event until the broker has the last. */
    readonly seconds: number;
    readonly cpuUs: number;
    /** The same events over the same link, waiting in memory as they did before. */
    readonly memoryCpuUs: number;
  };
  /** Events that have waited for the broker. */
  readonly drain: { readonly events: number; readonly seconds: number };
  /** An outage. */
  readonly outage: {
    readonly events: number;
    readonly bound: number;
    readonly dropped: number;
    /** Counted by the events that tell of drops. */
    readonly told: number;
    readonly arrived: number;
    readonly cpuUs: number;
    readonly rssAnonMb: { readonly warm: number; readonly least: number; readonly most: number };
    /** What a full collection leaves. */
    readonly heapUsedMb: { readonly least: number; readonly most: number };
    readonly fileMb: number;
  };
}
