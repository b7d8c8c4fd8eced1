import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { CallEnding } from "../contracts/fleet-port.ts";
import { type FleetMap, fleetMap } from "../domain/update.ts";
import { type Clock, sleep } from "../platform/clock.ts";
import { isJsonObject } from "../platform/json.ts";
import { readIfThere, replaceFile } from "../platform/kept-file.ts";
import type { Log } from "../platform/log.ts";

/**
 * The maps from answers of the service, on disk: a map changes seldom, and is needed while the cloud is away.
 */
export interface MapCache {
  /**
   * Applies the ending of a GetMap to the cache. The service's answer comes first: a map is kept, a refusal
   * removes it. If the service could not be asked, a kept map is the answer, and `note` says so and since
   * when. Never rejects.
   */
  settle(mapId: number, ending: CallEnding): Promise<CallEnding>;
  /** Whether there is a map of this number on disk. Never rejects. */
  isKept(mapId: number): Promise<boolean>;
}

export interface MapCacheParts {
  /** A folder of the gateway's own. */
  readonly directory: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Called with each map that was answered or found on disk, and with null for one that is gone. */
  readonly onMap: (mapId: number, map: FleetMap | null) => void;
}

interface KeptMap {
  /** Wall time of the answer, milliseconds since 1970. */
  readonly readAtMs: number;
  readonly responseJson: string;
}

const PIECE = 256 * 1024;

/**
 * The file of a map: when it was read, and the answer as it is, without quoting it again. It may have
 * megabytes: encoding them at once would hold the event loop.
 */
function* linesOf(readAtMs: number, responseJson: string): Iterable<string> {
  yield `${JSON.stringify({ readAtMs })}\n`;
  for (let from = 0, end = 0; from < responseJson.length; from = end) {
    end = from + PIECE;
    // No character of two units is cut in two.
    if (isHighSurrogate(responseJson.charCodeAt(end - 1))) end -= 1;
    yield responseJson.slice(from, end);
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

export function createMapCache({ directory, clock, log, onMap }: MapCacheParts): MapCache {
  let writes = 0;

  function keep(path: string, { readAtMs, responseJson }: KeptMap): Promise<void> {
    // A temporary name of its own: the answers of two calls may be written at the same time.
    writes += 1;
    const text = linesOf(readAtMs, responseJson);
    return replaceFile(path, text, { isSynced: false }, `${path}.${writes}.new`);
  }

  return {
    isKept: (mapId) =>
      read(join(directory, `${mapId}.json`)).then(
        (kept) => {
          if (kept !== null) onMap(mapId, fleetMap(kept.readAtMs, kept.responseJson));
          return kept !== null;
        },
        () => false,
      ),
    async settle(mapId, ending) {
      const path = join(directory, `${mapId}.json`);
      try {
        if (ending.kind === "ok") {
          const readAtMs = clock.nowMs();
          onMap(mapId, fleetMap(readAtMs, ending.responseJson));
          await keep(path, { readAtMs, responseJson: ending.responseJson });
          return ending;
        }
        if (ending.kind === "refused") {
          if (ending.code === "NOT_FOUND") {
            onMap(mapId, null);
            await rm(path, { force: true });
          }
          return ending;
        }
        const kept = await read(path);
        if (kept === null) return ending;
        const since = new Date(kept.readAtMs).toISOString();
        const note = `the map as it was at ${since}; the service could not be asked now: ${ending.message}`;
        return { kind: "ok", responseJson: kept.responseJson, missionId: null, note };
      } catch (error) {
        // The call does not depend on the cache: its ending stays as it came.
        log.warn({ err: error, mapId }, "the map cache on disk cannot be used");
        return ending;
      }
    },
  };
}

/** Null: the map was never kept. Rejects if the file cannot be read. */
async function read(path: string): Promise<KeptMap | null> {
  const text = await readIfThere(path);
  if (text === undefined) return null;
  const end = text.indexOf("\n");
  const head: unknown = end === -1 ? null : JSON.parse(text.slice(0, end));
  const readAtMs = isJsonObject(head) ? head.readAtMs : null;
  // A file that was cut short may end anywhere.
  if (typeof readAtMs !== "number" || !text.endsWith("}")) throw new Error(`${path} is damaged`);
  return { readAtMs, responseJson: text.slice(end + 1) };
}

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
