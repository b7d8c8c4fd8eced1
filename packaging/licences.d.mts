import type { Packed } from "./sbom.mjs";

/** The text for a package that brings none; null if it brings one. Throws when no text is known. */
export function missingLicence(root: string, packed: Packed): string | null;
