import { existsSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { isCode } from "./platform/error-text.ts";

interface Manifest {
  readonly version: string;
  readonly support: { readonly security: string; readonly until: string };
}
const manifest: Manifest = createRequire(import.meta.url)("../package.json");

/** The version of package.json: one place to change it. A package has the commit in it too. */
export const version = manifest.version;

interface Build {
  /** Null: these are sources that run as they are. */
  readonly builtAt: Date | null;
  /** The commit that a package was made of; null: this is no package. */
  readonly commit: string | null;
}

/** What the build noted beside the program. */
export function readBuild(): Build {
  try {
    const notes: { builtAt?: string; commit?: string } = JSON.parse(
      readFileSync(new URL("./build.json", import.meta.url), "utf8"),
    );
    const { builtAt, commit = null } = notes;
    return { builtAt: builtAt === undefined ? null : new Date(builtAt), commit };
  } catch (error) {
    if (isCode(error, "ENOENT")) return { builtAt: null, commit: null };
    throw error;
  }
}

/** The date of the program; of sources, the age of this file. */
export function programDate(): Date {
  return readBuild().builtAt ?? statSync(fileURLToPath(import.meta.url)).mtime;
}

/** What an inventory of a plant asks for: what runs here, who mends it, and until when. */
export function longVersion(): string {
  const sbom = fileURLToPath(new URL("../sbom.cdx.json", import.meta.url));
  return [
    `fleetgate ${version}`,
    `commit:    ${readBuild().commit ?? "not a package"}`,
    `built:     ${programDate().toISOString()}`,
    `Node.js:   ${process.versions.node}, with OpenSSL ${process.versions.openssl}`,
    `contents:  ${existsSync(sbom) ? sbom : "not a package"}`,
    `security:  ${manifest.support.security}`,
    `supported: until ${manifest.support.until}`,
  ].join("\n");
}

/** What the build made of the console; null: it was not built. */
export function consoleFolder(): string | null {
  const folder = fileURLToPath(new URL("../dist/console", import.meta.url));
  return existsSync(folder) ? folder : null;
}
