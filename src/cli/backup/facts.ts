import { resolve } from "node:path";
import { z } from "zod";
import type { ArchiveEntry } from "../../platform/archive/tar.ts";
import { version } from "../../version.ts";
import { exitCodes, NotPossible } from "../exit.ts";

/** What a backup says of itself. */
export interface BackupFacts {
  readonly gatewayId: string;
  /** Where the configuration was; absolute, as `dataDir` is. */
  readonly config: string;
  readonly dataDir: string;
  /** The version of the program that wrote it. */
  readonly program: string;
  /** The paths of credentials of systemd, by the name that the configuration uses. */
  readonly credentials: Readonly<Record<string, string>>;
  /** ISO 8601, UTC. */
  readonly madeAt: string;
}

const NAME = "fleetgate-backup.json";
const FORMAT = 1;

const absolute = z.string().refine((path) => !path.includes("\0") && resolve(path) === path);
const schema = z.object({
  format: z.literal(FORMAT),
  gateway_id: z.string().min(1),
  config: absolute,
  data_dir: absolute,
  credentials: z.record(z.string(), absolute).default({}),
  program: z.string().regex(/^\d+\.\d+\.\d+/),
  made_at: z.string(),
});

/** The first entry of a backup, so that a newer format is found before anything else is read. */
export function factsEntry(facts: BackupFacts): ArchiveEntry {
  const { gatewayId, config, dataDir, credentials, program, madeAt } = facts;
  const text = {
    format: FORMAT,
    gateway_id: gatewayId,
    config,
    data_dir: dataDir,
    credentials,
    program,
    made_at: madeAt,
  };
  const content = Buffer.from(`${JSON.stringify(text, null, 2)}\n`);
  const owner = { owner: "root", group: "root" };
  return { name: NAME, kind: "file", mode: 0o600, ...owner, changedMs: Date.parse(madeAt), content };
}

/** Throws NotPossible. */
export function readFacts(path: string, entry: ArchiveEntry | undefined): BackupFacts {
  if (entry?.name !== NAME) throw new NotPossible(`${path} is no backup of fleetgate; nothing was changed`);
  const text: unknown = JSON.parse(entry.content.toString("utf8"));
  const about = z.object({ format: z.number(), program: z.string() }).safeParse(text);
  if (about.success && (about.data.format > FORMAT || isNewer(about.data.program, version)))
    throw new NotPossible(
      `${path} was written by fleetgate ${about.data.program}, and this is ${version}: ` +
        "install that version first; nothing was changed",
      exitCodes.data,
    );
  const { gateway_id: gatewayId, data_dir: dataDir, made_at: madeAt, ...others } = schema.parse(text);
  const { config, credentials, program } = others;
  return { gatewayId, config, dataDir, credentials, program, madeAt };
}

/** By the three numbers of each. */
function isNewer(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => text.split(/[.+-]/).slice(0, 3).map(Number));
  for (const place of [0, 1, 2]) {
    const [mine, its] = [a?.[place] ?? 0, b?.[place] ?? 0];
    if (mine !== its) return mine > its;
  }
  return false;
}
