/** Writes SHA256SUMS of all files in the folder. */
export function writeSums(folder: string): void;
/** Makes `apt/` in the folder, of every .deb that lies there. */
export function makeAptRepository(folder: string, of: { readonly key: string; readonly epoch: number }): void;
