import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { isPassword } from "../../../src/platform/password.ts";

/** Expects that the file of invented passwords, for its owner alone, has the one of this user. */
export async function hasInvented(folder: string, user: string, name: string): Promise<string> {
  const path = join(folder, "etc/secrets/invented-passwords");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const invented =
    new RegExp(`^Password of ${user}: (\\S+)$`, "m").exec(readFileSync(path, "utf8"))?.[1] ?? "";
  const kept = readFileSync(join(folder, "etc/secrets", name), "utf8").trim();
  expect(await isPassword(kept, invented)).toBe(true);
  return invented;
}

/** Options of an `init` that asks nothing, with `key.json` of the present folder. */
export const flags = (config: string) => [
  ...["init", "--config", config, "--id", "plant1", "--fleet", "fleet.example.com:443"],
  ...["--api-key", "key.json", "--robots", "cart-1"],
];
