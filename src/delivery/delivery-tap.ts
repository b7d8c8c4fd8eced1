import type { Batch } from "../contracts/link.ts";
import type { RecorderTap } from "../platform/recorder/tap.ts";
import { deliveredText } from "./delivered-text.ts";

/** Records what the northbounds get. */
export interface DeliveryTap {
  record(northbound: string, slice: Batch): void;
}

/** Counts within the 32 bits of an entry. */
const LAST_ID = 0xffff_ffff;

/**
 * Most slices go to several northbounds in one turn. The text is written for the first of them. The others
 * get its id: writing it again would cost more than the rest of the recorder.
 */
export function createDeliveryTap(tap: RecorderTap): DeliveryTap {
  let last: Batch | null = null;
  let segment = 0;
  let id = 0;
  return {
    record(name, slice) {
      if (!tap.isOn) return;
      if (last !== null && segment === tap.segment && isSame(last, slice)) {
        tap.write("told", { name, id });
        return;
      }
      id = id === LAST_ID ? 1 : id + 1;
      last = slice;
      segment = tap.segment;
      tap.write("told", { name, id, text: (atMs) => deliveredText(slice, atMs) });
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
