import type { EntryKind, EntryParts } from "./entry.ts";

/** Where rooms put what they have received and told. Synchronous; never throws; copies the bytes. */
export interface Tape {
  /** False: nothing is kept now, so nothing need be prepared for it. */
  readonly isOn: boolean;
  write(kind: EntryKind, parts: EntryParts): void;
  /** Of the segment that is written: what is recorded once a segment is due again when it changes. */
  readonly segment: number;
}

/** Keeps nothing. */
export const noTape: Tape = { isOn: false, segment: 0, write() {} };
