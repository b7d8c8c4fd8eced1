/** @returns a line for each problem; none for an SBOM that BSI TR-03183-2 accepts */
export function sbomProblems(sbom: unknown, tree?: string): readonly string[];
