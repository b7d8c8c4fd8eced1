/** The version that packages ship. */
export const shippedVersion: string;
/** Fetches a Node.js package once and keeps it in `cache`. @returns its folder */
export function nodeBinary(version: string, arch: "amd64" | "arm64", cache: string): string;
