import type { DataType } from "./data-type.ts";
import type { Position } from "./structured-text-error.ts";
import type { Literal } from "./token.ts";

/** One text, or several that belong together: the blocks of a page. */
export interface Program {
  readonly globals: readonly Declaration[];
  readonly units: readonly Unit[];
}

/** A PROGRAM or FUNCTION_BLOCK. Statements outside of both are a program without a name. */
export interface Unit {
  readonly kind: "program" | "block";
  readonly at: Position;
  readonly name: string;
  readonly declarations: readonly Declaration[];
  readonly body: readonly Statement[];
}

export type Section = "VAR" | "VAR_INPUT" | "VAR_OUTPUT" | "VAR_IN_OUT" | "VAR_GLOBAL";

export interface Declaration {
  readonly at: Position;
  readonly name: string;
  readonly section: Section;
  readonly retain: boolean;
  readonly type: DataType;
  readonly initial: Initial | null;
}

export type Initial =
  | { readonly kind: "value"; readonly expression: Expression }
  | { readonly kind: "array"; readonly at: Position; readonly items: readonly RepeatedInitial[] };

/** `12(0)` is the value 0 twelve times. */
export interface RepeatedInitial {
  readonly count: number;
  readonly initial: Initial;
}

export type UnaryOperator = "NOT" | "-";
export type Arithmetic = "+" | "-" | "*" | "/" | "MOD";
export type Comparison = "=" | "<>" | "<" | ">" | "<=" | ">=";
export type Logic = "AND" | "XOR" | "OR";
export type BinaryOperator = Arithmetic | Comparison | Logic;

export type Expression =
  | { readonly kind: "literal"; readonly at: Position; readonly literal: Literal }
  | { readonly kind: "variable"; readonly at: Position; readonly path: Path }
  | {
      readonly kind: "unary";
      readonly at: Position;
      readonly operator: UnaryOperator;
      readonly operand: Expression;
    }
  | {
      readonly kind: "binary";
      readonly at: Position;
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | {
      readonly kind: "call";
      readonly at: Position;
      readonly name: string;
      readonly values: readonly Expression[];
    };

/** `a`, `a[i]`, `fb.Q`, and chains of these. */
export interface Path {
  readonly at: Position;
  readonly name: string;
  readonly steps: readonly PathStep[];
}

export type PathStep =
  | { readonly kind: "index"; readonly at: Position; readonly index: Expression }
  | { readonly kind: "member"; readonly at: Position; readonly name: string };

export type Statement =
  | { readonly kind: "assign"; readonly at: Position; readonly target: Path; readonly value: Expression }
  | {
      readonly kind: "call";
      readonly at: Position;
      readonly block: Path;
      readonly parameters: readonly Parameter[];
    }
  | {
      readonly kind: "if";
      readonly at: Position;
      readonly branches: readonly Branch[];
      readonly otherwise: readonly Statement[];
    }
  | {
      readonly kind: "case";
      readonly at: Position;
      readonly selector: Expression;
      readonly cases: readonly Case[];
      readonly otherwise: readonly Statement[];
    }
  | ForStatement
  | { readonly kind: "while" | "repeat"; readonly at: Position; readonly loop: Branch }
  | { readonly kind: "exit" | "return"; readonly at: Position };

export interface ForStatement {
  readonly kind: "for";
  readonly at: Position;
  readonly variable: Path;
  readonly from: Expression;
  readonly to: Expression;
  /** Null: 1. */
  readonly by: Expression | null;
  readonly body: readonly Statement[];
}

/** Statements and the condition on which they run (REPEAT: on which they end). */
export interface Branch {
  readonly condition: Expression;
  readonly body: readonly Statement[];
}

export interface Case {
  readonly labels: readonly CaseLabel[];
  readonly body: readonly Statement[];
}

/** From `first` to `last`, both included. */
export interface CaseLabel {
  readonly at: Position;
  readonly first: number;
  readonly last: number;
}

/** `name := value` or `name => target`. */
export type Parameter =
  | { readonly kind: "in"; readonly at: Position; readonly name: string; readonly value: Expression }
  | { readonly kind: "out"; readonly at: Position; readonly name: string; readonly target: Path };
