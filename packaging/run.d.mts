/** Runs a program and returns what it printed. */
export function run(program: string, args: readonly string[]): string;
