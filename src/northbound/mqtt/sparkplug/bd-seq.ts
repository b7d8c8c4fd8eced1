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
const TABLE = "sparkplug-bd-seq";

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
  const key = `${groupId}/${nodeId}`;
  const open = () => tables.table(TABLE, codec, "begin empty");
  /** Null: this process has made no connection. */
  let last: number | null = null;

  function keep(bdSeq: number): void {
    last = bdSeq;
    tables.keep([open().put(key, bdSeq)]);
  }

  return {
    async next() {
      // It is read as late as this: in a cluster the leader of before has kept its own until then.
      const before = last ?? open().get(key) ?? NUMBERS - 1;
      const bdSeq = (before + 1) % NUMBERS;
      keep(bdSeq);
      await tables.flushed();
      return bdSeq;
    },
    takeBack() {
      if (last !== null) keep((last + NUMBERS - 1) % NUMBERS);
    },
  };
}
