import type { Batch } from "../contracts/link.ts";
import type { Tape } from "../platform/recorder/tape.ts";
import { toldText } from "./told-text.ts";

/** Records what the northbounds get. */
export interface ToldTape {
  tell(northbound: string, slice: Batch): void;
}

/** Counts within the 32 bits of an entry. */
const LAST_ID = 0xffff_ffff;

/**
 * Most slices go to several northbounds in one turn. The text is written for the first of them. The others
 * get its id: writing it again would cost more than the rest of the recorder.
 */
export function createToldTape(tape: Tape): ToldTape {
  let last: Batch | null = null;
  let segment = 0;
  let id = 0;
  return {
    tell(name, slice) {
      if (!tape.isOn) return;
      if (last !== null && segment === tape.segment && isSame(last, slice)) {
        tape.write("told", { name, id });
        return;
      }
      id = id === LAST_ID ? 1 : id + 1;
      last = slice;
      segment = tape.segment;
      tape.write("told", { name, id, text: (atMs) => toldText(slice, atMs) });
    },
  };
}

function isSame(one: Batch, other: Batch): boolean {
  return areSame(one.changes, other.changes) && areSame(one.events, other.events);
}

function areSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at += 1) if (one[at] !== other[at]) return false;
  return true;
}
