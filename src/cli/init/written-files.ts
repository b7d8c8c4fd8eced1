import { constants } from "node:fs";
import { access, chmod, chown, readFile, rm, rmdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { makeFolder } from "../../platform/folder.ts";
import { Refused } from "../exit.ts";
import { type Access, isThere, publicAccess, whyNotWritten, writeNewFile } from "../new-file.ts";
import { fileNamesOf } from "./configuration-text.ts";
import type { AnswerName } from "./questions.ts";

/** A file that the configuration names. */
export interface PlannedFile {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
  readonly access: Access;
}

/** The files to write: all of them, or none. */
export interface Plan {
  /** Of the configuration, absolute. */
  readonly path: string;
  readonly text: string;
  readonly files: readonly PlannedFile[];
  readonly secretAccess: Access;
}

/**
 * Writes the plan. The configuration comes last, after `check` has found no fault in it. After any failure,
 * all written files are removed.
 *
 * @param check reads the configuration from a file beside its place. Rejects with Refused
 * @returns files that already had the right content, such as an API key that was copied there by hand
 */
export async function writePlan(
  plan: Plan,
  check: (path: string) => Promise<void>,
): Promise<readonly string[]> {
  const kept = await sameFiles(plan.files);
  await refuseWhatIsInTheWay(plan, kept);
  const undo: Array<() => Promise<unknown>> = [];
  const write = async (path: string, text: string, readers: Access) => {
    await writeNewFile(path, text, readers);
    undo.push(() => rm(path, { force: true }));
  };
  try {
    for (const { path, text, access } of plan.files) {
      await makeFolderFor(path, plan, undo);
      if (!kept.includes(path)) await write(path, text, access);
    }
    const draft = `${plan.path}.init`;
    await write(draft, plan.text, publicAccess);
    await check(draft);
    await write(plan.path, plan.text, publicAccess);
    await rm(draft, { force: true });
    return kept;
  } catch (error) {
    for (const step of undo.reverse()) await step().catch(() => {});
    throw error;
  }
}

/** Before any question: refuses a place where no configuration can be written. */
export async function refusePlace(path: string): Promise<void> {
  if (await isThere(path)) throw new Refused([inTheWay(path)]);
  let folder = dirname(resolve(path));
  while (!(await isThere(folder))) folder = dirname(folder);
  await access(folder, constants.W_OK).catch((error) => {
    throw new Refused([`${path} ${whyNotWritten(error)}`]);
  });
}

/**
 * Why the file for an answer cannot be written; null: it can, or has that content already. It is checked
 * early, so that nobody answers ten questions to be refused at the end.
 */
export async function placeProblem(config: string, name: AnswerName, answer: string): Promise<string | null> {
  if (answer === "") return null;
  const names = fileNamesOf(config);
  const copies: Partial<Record<AnswerName, string>> = {
    fleetCa: names.fleetCa,
    apiKey: names.apiKey,
    mqttCa: names.mqttCa,
  };
  const copy = copies[name];
  const passwords: Partial<Record<AnswerName, string>> = {
    opcuaUser: names.opcuaPassword(answer),
    webUser: names.webPassword(answer),
  };
  const made = copy ?? passwords[name];
  if (made === undefined) return null;
  const path = join(dirname(resolve(config)), made);
  const isSame = copy !== undefined && (await textOf(path)) === (await textOf(answer));
  return isSame || !(await isThere(path)) ? null : inTheWay(path);
}

/** Existing files that already have their content. */
async function sameFiles(files: readonly PlannedFile[]): Promise<readonly string[]> {
  const found = await Promise.all(
    files.map(async ({ path, text }) => ((await textOf(path)) === text ? [path] : [])),
  );
  return found.flat();
}

async function refuseWhatIsInTheWay(plan: Plan, kept: readonly string[]): Promise<void> {
  const wanted = plan.files.map(({ path }) => path).filter((path) => !kept.includes(path));
  const problems: string[] = [];
  for (const path of [plan.path, ...wanted]) if (await isThere(path)) problems.push(inTheWay(path));
  if (problems.length > 0) throw new Refused(problems);
}

function inTheWay(path: string): string {
  return `${path} is in the way: move it elsewhere, or choose another --config`;
}

/** Null: there is none that can be read. */
function textOf(path: string): Promise<string | null> {
  return readFile(path, "utf8").catch(() => null);
}

/** Makes the missing folders of a path. The service's user must be able to enter root's folders. */
async function makeFolderFor(
  path: string,
  { path: configPath, secretAccess: { group } }: Plan,
  undo: Array<() => Promise<unknown>>,
): Promise<void> {
  const missing: string[] = [];
  for (let at = dirname(path); !(await isThere(at)); at = dirname(at)) missing.unshift(at);
  if (missing.length === 0) return;
  for (const folder of missing) undo.push(() => rmdir(folder));
  await makeFolder(dirname(path));
  if (group === null) return;
  const secrets = join(dirname(resolve(configPath)), dirname(fileNamesOf(configPath).apiKey));
  for (const folder of missing) {
    const isForSecrets = folder === secrets;
    if (isForSecrets) await chown(folder, 0, group);
    await chmod(folder, isForSecrets ? 0o750 : 0o755);
  }
}
