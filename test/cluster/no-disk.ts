import type { DiskMirror } from "../../src/cluster/protocol/mirror.ts";

/** Of a box that starts for the first time, and keeps nothing. */
export const noDisk: DiskMirror = {
  take: () => [],
  before: null,
  isLost: () => false,
  keep() {},
  lose() {},
};
