/** The version of a package, with its commit. */
export function versionOf(root: string): { readonly version: string; readonly commit: string };
/** @throws if the checkout has changes that are in no commit */
export function assertCommitted(root: string): void;
