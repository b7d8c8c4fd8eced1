import type { Codec } from "../../../platform/stores/table-store.ts";
import type { WriteBehind } from "../../../platform/stores/write-behind.ts";
import type { SparkplugOptions } from "./options.ts";

/** The number of each connection: by it a host knows which birth a death ends. */
export interface BdSeq {
  /** The number of the next connection. Resolves when the disk has it, or has not answered in time. */
  next(): Promise<number>;
  /** No CONNECT has left with the newest number: the next connection has it again. */
  takeBack(): void;
}

/** It is a byte, for some hosts. */
const NUMBERS = 256;
const TABLE = "sparkplug_bd_seq";

const codec: Codec<number> = {
  encode: (value) => value,
  decode: (json) =>
    typeof json === "number" && Number.isInteger(json) && json >= 0 && json < NUMBERS ? json : null,
};

/** Begins at 0 for a node that this gateway never was. */
export function createBdSeq(
  { groupId, nodeId }: Pick<SparkplugOptions, "groupId" | "nodeId">,
  tables: Pick<WriteBehind, "table" | "keep" | "flushed">,
): BdSeq {
  const table = tables.table(TABLE, codec, "begin empty");
  const key = `${groupId}/${nodeId}`;
  let last: number | undefined;
  for (const [node, bdSeq] of table.entries()) if (node === key) last = bdSeq;
  return {
    async next() {
      last = last === undefined ? 0 : (last + 1) % NUMBERS;
      tables.keep([table.put(key, last)]);
      await tables.flushed();
      return last;
    },
    takeBack() {
      if (last === undefined) return;
      last = (last + NUMBERS - 1) % NUMBERS;
      tables.keep([table.put(key, last)]);
    },
  };
}
