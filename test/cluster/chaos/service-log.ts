import type { RecordEntry } from "../../../src/simulator/world/record.ts";
import { tokenOf } from "../../daemon/crash-rounds-clients.ts";
import { createRecordIndex } from "../../daemon/crash-rounds-story.ts";
import type { RunningSimulator } from "../../support/simulator.ts";

/** A start that the service was given. */
export interface Arrival {
  readonly seq: number;
  readonly robotId: string;
  readonly token: string | number;
  /** On the monotonic clock, some milliseconds late. */
  readonly atMs: number;
}

/** A conveyor was started or stopped. */
export interface Turn {
  readonly robotId: string;
  readonly isTurning: boolean;
  /** As of an arrival. */
  readonly atMs: number;
}

/** The service's own record, read while it happens. */
export interface ServiceLog {
  readonly arrivals: readonly Arrival[];
  readonly turns: readonly Turn[];
  /** Reads what is new. @returns the number of the last entry */
  read(): number;
  of(token: string | number): readonly RecordEntry[];
  close(): void;
}

const LOOK_MS = 20;
const starts: ReadonlySet<string> = new Set(["CreateMission", "AppendMission"]);

export function openServiceLog({ control }: RunningSimulator): ServiceLog {
  const index = createRecordIndex(tokenOf);
  const arrivals: Arrival[] = [];
  const turns: Turn[] = [];

  function read(): number {
    const entries = control.record(index.lastSeq());
    const atMs = performance.now();
    index.add(entries);
    for (const { seq, robotId, fact } of entries) {
      if (fact.what === "motor") turns.push({ robotId, isTurning: fact.motor !== "stop", atMs });
      if (fact.what !== "received" || !starts.has(fact.operation)) continue;
      const token = tokenOf(fact.request);
      if (token !== null) arrivals.push({ seq, robotId, token, atMs });
    }
    return index.lastSeq();
  }

  const timer = setInterval(read, LOOK_MS);
  return { arrivals, turns, read, of: index.of, close: () => clearInterval(timer) };
}
