import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../folder.ts";
import { isJsonObject, type JsonObject, parsedJson } from "../json.ts";
import { readNowIfThere, replaceFile } from "../kept-file.ts";
import { inOrder, nextNumber } from "../plain-file.ts";
import { plainLines } from "../plain-text.ts";

/** The state of a run, noted while it lives: a process that is killed writes nothing more. */
export interface Life extends JsonObject {
  readonly version: string;
  readonly node: string;
  readonly pid: number;
  /** Of the machine's start: another one means that the machine was started again. */
  readonly bootId: string;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly at: string;
  /** The running time at that moment. Earlier versions did not write it. */
  readonly runningMs?: number;
}

/** How a run ended, for its users and its developers. Without secrets. */
export interface CrashReport extends Life {
  readonly cause: string;
  readonly stack: string | null;
}

/** The crash reports of a folder, and the note of the present run. */
export interface CrashFolder {
  /** Creates the folder if it is missing: a crash has no time for it. */
  make(): Promise<void>;
  /**
   * Writes synchronously, because the process ends next.
   *
   * @returns the path of the report
   */
  keep(report: CrashReport): string;
  /** The names of the reports, the oldest first. */
  names(): Promise<readonly string[]>;
  read(name: string): CrashReport | null;
  noteLife(life: Life): Promise<void>;
  /** The note of an earlier run that did not end in order; null: there is none. */
  earlierLife(): Life | null;
  /** Removes the note: the run ends in order. */
  endLife(): void;
}

const KEPT = 10;
const OWNER_ONLY = 0o600;
const REPORT = /^crash-.+\.json$/;

export function createCrashFolder(path: string): CrashFolder {
  const life = join(path, "running.json");

  function read(file: string): JsonObject | null {
    // A crash may have cut the note off.
    const json = parsedJson(readNowIfThere(file) ?? "");
    return isJsonObject(json) ? json : null;
  }

  function reports(names: readonly string[]): readonly string[] {
    return inOrder(names.filter((name) => REPORT.test(name)));
  }

  return {
    make: () => makeFolder(path),
    keep(report) {
      const number = nextNumber(reports(readdirSync(path)));
      const name = `crash-${report.at.replaceAll(":", "-")}-${number}.json`;
      const draft = join(path, `${name}.new`);
      writeFileSync(draft, `${plainLines(JSON.stringify(report, null, 2))}\n`, { mode: OWNER_ONLY });
      renameSync(draft, join(path, name));
      for (const old of reports(readdirSync(path)).slice(0, -KEPT)) rmSync(join(path, old), { force: true });
      return join(path, name);
    },
    async names() {
      return reports(await readdir(path).catch(() => []));
    },
    read: (name) => read(join(path, name)) as CrashReport | null,
    noteLife: (noted) => replaceFile(life, `${JSON.stringify(noted)}\n`, { isSynced: false }),
    earlierLife: () => read(life) as Life | null,
    endLife: () => rmSync(life, { force: true }),
  };
}

/** Identifies this start of the machine; empty if the system does not say it. */
export function bootIdOfMachine(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}
