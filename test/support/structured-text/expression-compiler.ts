import { convertToInteger, type Expr } from "./conversion.ts";
import { boundsOf, type DataType, typeName } from "./data-type.ts";
import { compileBinary, compileUnary } from "./operator.ts";
import { type Locator, locateVariable, type Scope } from "./scope.ts";
import { compileFunction } from "./standard-function.ts";
import { type Position, StructuredTextError } from "./structured-text-error.ts";
import type { Expression, Path, PathStep } from "./syntax.ts";
import { type Value, valueAt } from "./value.ts";

/** A variable, an element or a member, as a statement may read or assign it. */
export interface CompiledPath {
  readonly at: Position;
  readonly type: DataType;
  readonly locate: Locator;
  /** Why it cannot be assigned; null: it can. */
  readonly readOnly: string | null;
}

/** An expression of literals. @throws StructuredTextError for variables, and types that do not fit */
export function compileConstant(expression: Expression): Expr {
  return compileExpression(null, expression);
}

/**
 * @param scope what names mean; null: there may be none
 * @throws StructuredTextError for names that are unknown and types that do not fit
 */
export function compileExpression(scope: Scope | null, expression: Expression): Expr {
  const { at } = expression;
  switch (expression.kind) {
    case "literal": {
      const { type, value } = expression.literal;
      const literalType =
        type === "STRING" ? { kind: type, maxBytes: Buffer.byteLength(String(value)) } : { kind: type };
      return { at, type: literalType, evaluate: () => value };
    }
    case "variable": {
      if (scope === null)
        throw new StructuredTextError(at, `a constant expected, found "${expression.path.name}"`);
      const { type, locate } = compilePath(scope, expression.path);
      const evaluate = (slots: Value[]) => {
        const { holder, index } = locate(slots);
        return valueAt(holder, index);
      };
      return { at, type, evaluate };
    }
    case "unary":
      return compileUnary(at, expression.operator, compileExpression(scope, expression.operand));
    case "binary": {
      const left = compileExpression(scope, expression.left);
      return compileBinary(at, expression.operator, left, compileExpression(scope, expression.right));
    }
    case "call": {
      const values = expression.values.map((value) => compileExpression(scope, value));
      return compileFunction(at, expression.name, values);
    }
  }
}

/** @throws StructuredTextError for names that are unknown, and for indices and members of what has none */
export function compilePath(scope: Scope, path: Path): CompiledPath {
  const { variable, locate } = locateVariable(scope, path.name, path.at);
  const start: CompiledPath = {
    at: path.at,
    type: variable.type,
    locate,
    readOnly: variable.section === "VAR_INPUT" ? `the input "${path.name}" is set by its caller only` : null,
  };
  return path.steps.reduce(
    (whole, step) =>
      step.kind === "index" ? compileIndex(scope, whole, step) : compileMember(scope, whole, step),
    start,
  );
}

type Step<Kind> = Extract<PathStep, { readonly kind: Kind }>;

function compileIndex(scope: Scope, whole: CompiledPath, { at, index }: Step<"index">): CompiledPath {
  const { type } = whole;
  if (type.kind !== "ARRAY") throw new StructuredTextError(at, `an ARRAY expected, found ${typeName(type)}`);
  const evaluate = convertToInteger(compileExpression(scope, index));
  const locate: Locator = (slots) => {
    const { holder, index: slot, shared } = whole.locate(slots);
    const place = evaluate(slots);
    if (place < type.low || place > type.high)
      throw new StructuredTextError(at, `index ${place} is outside ${boundsOf(type)}`);
    return { holder: valueAt(holder, slot) as Value[], index: place - type.low, shared };
  };
  return { ...whole, type: type.of, locate };
}

function compileMember(scope: Scope, whole: CompiledPath, { at, name }: Step<"member">): CompiledPath {
  const { type } = whole;
  if (type.kind !== "block")
    throw new StructuredTextError(at, `a function block expected before ".${name}", found ${typeName(type)}`);
  const block = scope.block(type.name, at);
  const member = block.variables.get(name.toLowerCase());
  if (member === undefined || (member.section !== "VAR_INPUT" && member.section !== "VAR_OUTPUT"))
    throw new StructuredTextError(at, `function block ${block.name} has no input or output "${name}"`);
  const locate: Locator = (slots) => {
    const { holder, index, shared } = whole.locate(slots);
    return { holder: valueAt(holder, index) as Value[], index: member.slot, shared };
  };
  const readOnly = member.section === "VAR_OUTPUT" ? `the output "${name}" is set by its block only` : null;
  return { at, type: member.type, locate, readOnly };
}
