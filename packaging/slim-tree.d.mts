import type { Packed } from "./sbom.mjs";

/** The packages of the lock file that a running gateway needs. */
export function packagesOf(root: string, arch: "amd64" | "arm64", cache: string): readonly Packed[];
