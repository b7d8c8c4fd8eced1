import type { EntryKind, EntryParts } from "./recording.ts";

/** An entry to record. It is read within the following second: none of it may change. */
export interface TapEntry extends EntryParts {
  /** Makes `second` when the entry is copied; `atMs` is the entry's time. */
  readonly text?: (atMs: number) => string;
  /** How many lines that is; absent: about one. */
  readonly lines?: number;
}

/** Takes what the modules have received and published. Synchronous; never throws. */
export interface RecorderTap {
  /** False: nothing is recorded now, so nothing need be prepared. */
  readonly isOn: boolean;
  write(kind: EntryKind, parts: TapEntry): void;
  /**
   * The number of the present segment: an entry that each segment needs is recorded again when it changes.
   */
  readonly segment: number;
}

/** Records nothing. */
export const noTap: RecorderTap = { isOn: false, segment: 0, write() {} };

/** What is kept, and where. */
export interface RecorderOptions {
  /** The folder of the segments; saved recordings go to `saved` in it. */
  readonly folder: string;
  /** Of all segments together, and so of a saved recording. */
  readonly maxBytes: number;
  readonly keepMs: number;
  /** How many saved recordings are kept, of alarms and of users each. */
  readonly saved: number;
}
