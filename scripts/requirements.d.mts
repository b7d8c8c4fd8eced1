/** @returns a line for each problem of the page about IEC 62443-4-2 */
export function requirementProblems(text: string): readonly string[];
