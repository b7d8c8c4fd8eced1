/** The version of a package, with its commit. */
export function versionOf(root: string): { readonly version: string; readonly commit: string };
