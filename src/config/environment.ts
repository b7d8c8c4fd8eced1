import { dirname, resolve } from "node:path";

/**
 * The environment, read-only. `credential:NAME` is the file of a credential if a caller has read it from the
 * unit.
 */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The prefix of a systemd credential's name. */
export const CREDENTIAL_PREFIX = "credential:";

/** The folder for data that must survive a restart, absolute. */
export function dataDir(
  file: { readonly gateway: { readonly dataDir?: string | undefined } },
  path: string,
  env: Environment,
): string {
  const folder = dirname(resolve(path));
  // systemd separates several folders by colons; the first is the service's own.
  const state = env.STATE_DIRECTORY?.split(":", 1)[0];
  return resolve(folder, file.gateway.dataDir ?? (state === undefined || state === "" ? "data" : state));
}
