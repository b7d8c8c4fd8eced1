import { getHeapSpaceStatistics } from "node:v8";
import { processHeap } from "../../src/platform/heap-return.ts";

/** How many bytes of the old generation `work` fills, in use or not. Full collections meanwhile lessen it. */
export function oldBytesOf(work: () => void): number {
  processHeap().collect();
  const before = oldBytes();
  work();
  return oldBytes() - before;
}

function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space")?.space_used_size ?? 0;
}
