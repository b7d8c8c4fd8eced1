/** The types of IEC 61131-3 that the interpreter knows. */
export type DataType =
  | NumberType
  | { readonly kind: "BOOL" | "TIME" }
  | { readonly kind: "STRING"; readonly maxBytes: number }
  | ArrayType
  | BlockType;

export interface NumberType {
  readonly kind: "INT" | "DINT" | "REAL" | "LREAL";
}

export interface ArrayType {
  readonly kind: "ARRAY";
  readonly low: number;
  readonly high: number;
  readonly of: DataType;
}

/** An instance of a function block; names of blocks are compared without case. */
export interface BlockType {
  readonly kind: "block";
  readonly name: string;
}

/** What an expression yields: literals have no type yet, and take that of their surroundings. */
export type ExpressionType = DataType | LiteralType;

export interface LiteralType {
  readonly kind: "integer literal" | "decimal literal";
}

/** The length of a `STRING` that states none, in bytes: that of CODESYS, and the smallest in wide use. */
export const defaultStringBytes = 80;

/** A text that is not in a variable yet may have any length. */
export const anyString = { kind: "STRING", maxBytes: Number.POSITIVE_INFINITY } as const;

export const integerRanges = {
  INT: { least: -32_768, most: 32_767 },
  DINT: { least: -2_147_483_648, most: 2_147_483_647 },
} as const;

export function typeName(type: ExpressionType): string {
  switch (type.kind) {
    case "STRING":
      return Number.isFinite(type.maxBytes) ? `STRING[${type.maxBytes}]` : "STRING";
    case "ARRAY":
      return `${boundsOf(type)} OF ${typeName(type.of)}`;
    case "block":
      return `function block ${type.name}`;
    default:
      return type.kind;
  }
}

/** An array's type without that of its elements: `ARRAY[0..11]`. */
export function boundsOf(type: ArrayType): string {
  return `ARRAY[${type.low}..${type.high}]`;
}

export function isSameType(a: DataType, b: DataType): boolean {
  if (a.kind === "ARRAY" && b.kind === "ARRAY")
    return a.low === b.low && a.high === b.high && isSameType(a.of, b.of);
  if (a.kind === "STRING" && b.kind === "STRING") return a.maxBytes === b.maxBytes;
  if (a.kind === "block" && b.kind === "block") return a.name.toLowerCase() === b.name.toLowerCase();
  return a.kind === b.kind;
}

/** Whether it is a function block or an array of them; instances cannot be assigned. */
export function holdsBlocks(type: DataType): boolean {
  return type.kind === "block" || (type.kind === "ARRAY" && holdsBlocks(type.of));
}

/** The value of a variable without an initial one; a string is empty. */
export function defaultOf(type: Exclude<DataType, ArrayType | BlockType>): boolean | number | string {
  switch (type.kind) {
    case "BOOL":
      return false;
    case "STRING":
      return "";
    case "INT":
    case "DINT":
    case "REAL":
    case "LREAL":
    case "TIME":
      return 0;
  }
}
