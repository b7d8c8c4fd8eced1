import { type Clock, sleep } from "../../platform/clock.ts";

/** Fetches every map with a robot of the gateway, so that it is on disk before the service is away. */
export interface MapsOnce {
  /** Fetches the maps that were not fetched yet, one after the other. */
  want(mapIds: ReadonlySet<number>): void;
  /** Resolves when none is fetched or written any more. */
  settled(): Promise<void>;
}

export interface MapsOnceParts {
  /** Whether the map is on disk already. Never rejects. */
  readonly isKept: (mapId: number) => Promise<boolean>;
  /** Fetches the map, which is then kept. Resolves with whether it is on disk now. Never rejects. */
  readonly ask: (mapId: number) => Promise<boolean>;
  /** After how long a map without an answer is asked for again. */
  readonly retryMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** A service that invents maps must not fill the disk: these are 400 MB at most. */
const MOST_MAPS = 50;

export function createMapsOnce({ isKept, ask, retryMs, clock, signal }: MapsOnceParts): MapsOnce {
  const wanted = new Set<number>();
  let last: Promise<void> = Promise.resolve();

  async function see(mapId: number): Promise<void> {
    if (signal.aborted || (await isKept(mapId)) || (await ask(mapId))) return;
    void sleep(clock, retryMs, signal).then(() => wanted.delete(mapId));
  }

  return {
    want(mapIds) {
      for (const mapId of mapIds) {
        if (mapId <= 0 || wanted.has(mapId) || wanted.size >= MOST_MAPS) continue;
        wanted.add(mapId);
        last = last.then(() => see(mapId));
      }
    },
    settled: () => last,
  };
}
