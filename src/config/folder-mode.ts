import { stat } from "node:fs/promises";

/** Write for the group, write for others. */
const OTHERS_MAY_WRITE = 0o022;

/**
 * Who besides the user `uid` may change the content of a folder, each as a sentence with the command that
 * corrects it. Empty for a folder that does not exist yet: the gateway makes it for its own user alone.
 *
 * @param uid null: the system has no users by number
 */
export async function folderProblems(path: string, uid: number | null): Promise<readonly string[]> {
  const about = await stat(path).catch(() => null);
  if (about === null || !about.isDirectory()) return [];
  const mode = (about.mode & 0o7777).toString(8).padStart(4, "0");
  const problems: string[] = [];
  if ((about.mode & OTHERS_MAY_WRITE) !== 0) {
    problems.push(
      `${path} can be written by users besides its owner (mode ${mode}), who could forge the record of commands: chmod go-w ${path}`,
    );
  }
  if (uid !== null && about.uid !== uid) {
    problems.push(
      `${path} belongs to user ${about.uid} (mode ${mode}), and this program runs as user ${uid}: run the gateway as its owner, or chown ${uid} ${path} && chmod 700 ${path}`,
    );
  }
  return problems;
}
