import type { LiteralType, NumberType } from "./data-type.ts";
import type { Position } from "./structured-text-error.ts";

/** A literal; one without a type prefix takes the type of its surroundings. TIME is in milliseconds. */
export interface Literal {
  readonly type: NumberType["kind"] | LiteralType["kind"] | "BOOL" | "TIME" | "STRING";
  readonly value: boolean | number | string;
}

/** Keywords are in capitals, whatever the case in the text. */
export type Token =
  | (Position & { readonly kind: "keyword" | "symbol" | "name"; readonly text: string })
  | (Position & { readonly kind: "literal"; readonly text: string; readonly literal: Literal })
  | (Position & { readonly kind: "end"; readonly text: "" });

export const symbols = [":=", "=>", "<=", ">=", "<>", "..", ..."+-*/()[],;:.&=<>"] as const;

export const keywords: ReadonlySet<string> = new Set([
  ...["VAR", "VAR_INPUT", "VAR_OUTPUT", "VAR_IN_OUT", "VAR_GLOBAL", "END_VAR", "RETAIN"],
  ...["PROGRAM", "END_PROGRAM", "FUNCTION_BLOCK", "END_FUNCTION_BLOCK"],
  ...["BOOL", "INT", "DINT", "REAL", "LREAL", "STRING", "TIME", "ARRAY", "OF"],
  ...["IF", "THEN", "ELSIF", "ELSE", "END_IF", "CASE", "END_CASE"],
  ...["FOR", "TO", "BY", "DO", "END_FOR", "WHILE", "END_WHILE", "REPEAT", "UNTIL", "END_REPEAT"],
  ...["EXIT", "RETURN", "AND", "OR", "XOR", "NOT", "MOD"],
]);

/** How an error names a token. */
export function tokenName(token: Token): string {
  return token.kind === "end" ? "the end of the text" : `"${token.text}"`;
}
