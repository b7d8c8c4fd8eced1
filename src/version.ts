import { createRequire } from "node:module";

const manifest: { version: string } = createRequire(import.meta.url)("../package.json");

/** The version of package.json: one place to change it. */
export const version = manifest.version;
