import { isJsonObject } from "../../platform/json.ts";
import type { TableChange } from "../../platform/stores/table-store.ts";
import type { StoreEntry } from "./cluster-store.ts";
import type { Mirror } from "./mirror.ts";
import { decode, TABLES } from "./records.ts";

/** Whether this program knows what a record means. */
export type CanRead = (change: TableChange) => boolean;

/**
 * Follows the records that this program cannot read: a newer one may have written them, so this one must not
 * lead over them. A text that is no object counts as no record. Returns the key of such a record; null: there
 * is none.
 */
export function watchUnreadable(mirror: Pick<Mirror, "subscribe">, canRead: CanRead): () => string | null {
  const keys = new Set<string>();
  followTables(mirror, (table, key, entry) => {
    const value = entry && decode<unknown>(entry);
    const full = `${TABLES}${table}/${key}`;
    if (isJsonObject(value) && !canRead({ table, key, value })) keys.add(full);
    else keys.delete(full);
  });
  return () => keys.values().next().value ?? null;
}

/** Calls it with each record of a table that changes. */
export function followTables(
  mirror: Pick<Mirror, "subscribe">,
  listener: (table: string, key: string, entry: StoreEntry | null) => void,
): void {
  mirror.subscribe((key, entry) => {
    if (!key.startsWith(TABLES)) return;
    const end = key.indexOf("/", TABLES.length);
    listener(key.slice(TABLES.length, end), key.slice(end + 1), entry);
  });
}
