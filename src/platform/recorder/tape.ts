import type { EntryKind, EntryParts } from "./entry.ts";

/** What is recorded. It is read within the second after: none of it may change. */
export interface TapeParts extends EntryParts {
  /** Makes `second` when the entry is copied; `atMs` is the entry's time. */
  readonly text?: (atMs: number) => string;
}

/** Where rooms put what they have received and told. Synchronous; never throws. */
export interface Tape {
  /** False: nothing is kept now, so nothing need be prepared for it. */
  readonly isOn: boolean;
  write(kind: EntryKind, parts: TapeParts): void;
  /** Of the segment that is written: what is recorded once a segment is due again when it changes. */
  readonly segment: number;
}

/** Keeps nothing. */
export const noTape: Tape = { isOn: false, segment: 0, write() {} };
