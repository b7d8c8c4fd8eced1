/** Writes SHA256SUMS of the files of one version, and its signature if there is a key. */
export function writeSums(folder: string, of: { readonly version: string; readonly key?: string }): void;
/** Makes `apt/` in the folder, of each .deb of one version that lies there. */
export function makeAptRepository(
  folder: string,
  of: { readonly version: string; readonly key: string },
): void;
