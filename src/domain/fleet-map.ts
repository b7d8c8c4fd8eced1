/** A map as GetMap answered it last. */
export interface FleetMap {
  /** Wall time of the answer, in milliseconds since 1970. */
  readonly readAtMs: number;
  /** The answer in snake_case JSON; null: it is too large to be published. */
  readonly json: string | null;
  readonly bytes: number;
}

/** The largest map that is published. A larger one is read by GetMap. */
const LARGEST_SHOWN_BYTES = 256 * 1024;

export function fleetMap(readAtMs: number, json: string): FleetMap {
  const bytes = Buffer.byteLength(json);
  return { readAtMs, json: bytes > LARGEST_SHOWN_BYTES ? null : json, bytes };
}
