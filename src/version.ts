import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { builtAt, commit } from "./platform/build-date.ts";

interface Manifest {
  readonly version: string;
  readonly support: { readonly security: string; readonly until: string };
}
const manifest: Manifest = createRequire(import.meta.url)("../package.json");

/** The version of package.json: one place to change it. A package has the commit in it too. */
export const version = manifest.version;

/** What an inventory of a plant asks for: what runs here, who mends it, and until when. */
export function longVersion(): string {
  const sbom = fileURLToPath(new URL("../sbom.cdx.json", import.meta.url));
  return [
    `fleetgate ${version}`,
    `commit:    ${commit ?? "not a package"}`,
    `built:     ${builtAt().toISOString()}`,
    `Node.js:   ${process.versions.node}, with OpenSSL ${process.versions.openssl}`,
    `contents:  ${existsSync(sbom) ? sbom : "not a package"}`,
    `security:  ${manifest.support.security}`,
    `supported: until ${manifest.support.until}`,
  ].join("\n");
}

/** The description of the HTTP API: beside the program, and in config/ for sources that run as they are. */
export function openApiFile(): string {
  const built = fileURLToPath(new URL("./openapi.json", import.meta.url));
  return existsSync(built) ? built : fileURLToPath(new URL("../config/openapi.json", import.meta.url));
}

/** What the build made of the console; null: it was not built. */
export function consoleFolder(): string | null {
  const folder = fileURLToPath(new URL("../dist/console", import.meta.url));
  return existsSync(folder) ? folder : null;
}
