import { type MovedRecord, MoveRefused } from "../cluster/protocol/move.ts";
import { tableKey } from "../cluster/protocol/records.ts";
import { canReadRecord, isOrderKey } from "../commands/journal/stored-record.ts";
import { canReadTickets } from "../northbound/opcua/commands/ticket-store.ts";
import { isJsonObject } from "../platform/json.ts";

interface SortedRecords {
  readonly kept: readonly MovedRecord[];
  /** The keys in etcd of values that no gateway has written: they count as none. */
  readonly foreign: readonly string[];
}

/**
 * Sorts the records of etcd as a gateway reads them. Throws MoveRefused over a record of a newer version, and
 * over a place without its record: a box that runs alone would begin with an empty journal.
 *
 * @param prefix of all keys of the gateway in etcd
 */
export function sortMoved(records: readonly MovedRecord[], prefix: string): SortedRecords {
  const keyOf = ({ table, key }: Pick<MovedRecord, "table" | "key">) => prefix + tableKey(table, key);
  const kept: MovedRecord[] = [];
  const foreign: string[] = [];
  for (const record of records) {
    const isRead = canReadRecord(record) && canReadTickets(record);
    const isPlaced = record.table !== "order" || isOrderKey(record.key);
    if (isRead && isPlaced && record.value !== undefined) kept.push(record);
    else if (isPlaced && isJsonObject(record.value))
      throw new MoveRefused(
        `this version cannot read ${keyOf(record)}: take the newer one, or delete the key`,
      );
    else if (isPlaced && record.table === "order")
      throw new MoveRefused(`${keyOf(record)} names no command: look at the robots, then delete the key`);
    else foreign.push(keyOf(record));
  }
  const recorded = new Set(kept.flatMap(({ table, key }) => (table === "commands" ? [key] : [])));
  const lacking = kept.find(({ table, value }) => table === "order" && !recorded.has(String(value)));
  if (lacking !== undefined) {
    const record = keyOf({ table: "commands", key: String(lacking.value) });
    throw new MoveRefused(
      `${record} is no record, and ${keyOf(lacking)} names it: look at the robots, then delete both keys`,
    );
  }
  return { kept, foreign };
}
