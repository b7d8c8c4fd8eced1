import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isIdentifier } from "../domain/foreign-text.ts";
import { brokerKey, topicsKey } from "../northbound/mqtt/published-topics.ts";
import { describeError } from "../platform/error-text.ts";
import { isJsonObject } from "../platform/json.ts";
import type { Log } from "../platform/log.ts";
import { syncFolder } from "../platform/stores/store-marks.ts";
import { replacement, type TableStore, type TablesContent } from "../platform/stores/table-store.ts";
import { EXPORT_FILE, readExport } from "../platform/stores/tables-export.ts";

type Records = Readonly<Record<string, unknown>>;
/** Makes the content of tables of a file's JSON. Throws if the file has another form. */
type Reader = (json: unknown) => TablesContent;

/** Versions before the tables kept each of these in a JSON file. */
const readers: Readonly<Record<string, Reader>> = {
  "opcua/robots.json": (json) => ({ robots: byIdentifier("robotId", listOf(json)) }),
  "stations.json": (json) => ({ stations: objectOf(json) }),
  "alarms.json"(json) {
    const { alarms = [], outOfService = [], lastId = 0 } = objectOf(json);
    const robots = listOf(outOfService).filter(isIdentifier);
    return {
      alarms: byIdentifier("id", listOf(alarms)),
      "out-of-service": Object.fromEntries(robots.map((robotId) => [robotId, true])),
      "alarm-ids": { last: lastId },
    };
  },
};

function readTopics(json: unknown): TablesContent {
  const { broker: url, rules, chains, sessions, topics } = objectOf(json);
  const broker = brokerKey(String(url));
  const groups = Object.entries(objectOf(topics)).map(([mark, group]): [string, unknown] => [
    topicsKey(broker, mark),
    { mark, topics: group },
  ]);
  return {
    brokers: { [broker]: { rules, chains, sessions } },
    "published-topics": Object.fromEntries(groups),
  };
}

/**
 * Puts into the tables what a restore or an earlier version has left as files in the data folder. A file that
 * cannot be read is put aside.
 *
 * @returns removes the files: their content is on the disk. Until then each start reads them anew
 */
export async function takeFiles(dataDir: string, store: TableStore, log: Log): Promise<() => void> {
  const found = new Map<string, TablesContent>();
  for (const [name, read] of filesIn(dataDir)) {
    const path = join(dataDir, name);
    try {
      found.set(path, read(JSON.parse(readFileSync(path, "utf8"))));
    } catch (error) {
      const keptAs = `${path}.damaged`;
      log.error({ path, keptAs, cause: describeError(error) }, "a file cannot be read: it is put aside");
      renameSync(path, keptAs);
    }
  }
  if (found.size === 0) return () => {};
  try {
    await store.write(replacement(store, merged(found)));
  } catch (error) {
    log.error(
      { files: [...found.keys()], cause: describeError(error) },
      "the tables do not take what these files hold: the next start tries it again",
    );
    return () => {};
  }
  return () => {
    for (const path of found.keys()) {
      try {
        rmSync(path, { force: true });
        syncFolder(dirname(path));
        // A file that comes there later is another one.
        found.delete(path);
      } catch (error) {
        log.error(
          { path, cause: describeError(error) },
          "a file is not removed: the next start takes it again",
        );
      }
    }
  };
}

/** What a restore has put there comes last: it holds. */
function filesIn(dataDir: string): ReadonlyArray<readonly [string, Reader]> {
  const mqtt = join(dataDir, "mqtt");
  const names = existsSync(mqtt) ? readdirSync(mqtt) : [];
  const topics = names.filter((name) => /^topics(-[0-9a-f]{16})?\.json$/.test(name));
  const files: ReadonlyArray<readonly [string, Reader]> = [
    ...Object.entries(readers),
    ...topics.map((name) => [join("mqtt", name), readTopics] as const),
    [EXPORT_FILE, readExport],
  ];
  return files.filter(([name]) => existsSync(join(dataDir, name)));
}

/** Several brokers have a file each. A table of the export is not mixed with anything. */
function merged(found: ReadonlyMap<string, TablesContent>): TablesContent {
  const tables: Record<string, Records> = {};
  for (const [path, content] of found) {
    const isExport = basename(path) === EXPORT_FILE;
    for (const [table, records] of Object.entries(content))
      tables[table] = isExport ? records : { ...tables[table], ...records };
  }
  return tables;
}

/** The objects of a list, each by an identifier in it. */
function byIdentifier(name: string, list: readonly unknown[]): Records {
  return Object.fromEntries(
    list.flatMap((each): Array<[string, unknown]> => {
      const key = isJsonObject(each) ? each[name] : null;
      return isIdentifier(key) ? [[key, each]] : [];
    }),
  );
}

function listOf(json: unknown): readonly unknown[] {
  if (Array.isArray(json)) return json;
  throw new Error("it has no list where one belongs");
}

function objectOf(json: unknown): Records {
  if (isJsonObject(json)) return json;
  throw new Error("it has no object where one belongs");
}
