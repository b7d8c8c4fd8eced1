/** An enum number that this version does not know. It is passed on, never guessed. */
export interface Unrecognised {
  readonly kind: "unrecognised";
  readonly raw: number;
}

/** An enum of proto/ by its name there, or a number that has no name there. */
export type Coded<Name extends string> = Name | Unrecognised;

/** The name of `raw` (its index in `names` is its number), or the number itself. */
export function coded<Name extends string>(names: readonly Name[], raw: number): Coded<Name> {
  return names[raw] ?? { kind: "unrecognised", raw };
}

/** The number of an enum value, for protocols that carry enums as numbers. */
export function codeNumber<Name extends string>(names: readonly Name[], value: Coded<Name>): number {
  return typeof value === "string" ? names.indexOf(value) : value.raw;
}

/** An enum value in JSON: its name, or its number if it has no name. */
export function codeText(value: Coded<string>): string | number {
  return typeof value === "string" ? value : value.raw;
}

/** Whether two enum values are equal; numbers without a name are compared as numbers. */
export function sameCode(a: Coded<string>, b: Coded<string>): boolean {
  return a === b || (typeof a !== "string" && typeof b !== "string" && a.raw === b.raw);
}
