import { locatorOfAssignable, store } from "./assignment.ts";
import { convert, type Expr } from "./conversion.ts";
import { isSameType, typeName } from "./data-type.ts";
import { compileExpression, compilePath } from "./expression-compiler.ts";
import type { CompiledUnit, Scope, Variable } from "./scope.ts";
import { type Position, StructuredTextError } from "./structured-text-error.ts";
import type { Parameter, Path, Section } from "./syntax.ts";
import { type Value, valueAt } from "./value.ts";

/** Gives something to the instance before its body runs, or takes something from it afterwards. */
type Transfer = (slots: Value[], instance: Value[]) => void;

/**
 * Calls an instance of a function block: `fb(IN := x, Q => y)`. Inputs that are not named keep their values.
 * @throws StructuredTextError for parameters that the block does not have, and types that do not fit
 */
export function compileCall(
  scope: Scope,
  at: Position,
  path: Path,
  parameters: readonly Parameter[],
): (slots: Value[]) => void {
  const { type, locate } = compilePath(scope, path);
  if (type.kind !== "block")
    throw new StructuredTextError(at, `an instance of a function block expected, found ${typeName(type)}`);
  const block = scope.block(type.name, at);
  requireInOuts(block, at, parameters);
  const before = parameters.filter(({ kind }) => kind === "in").map((one) => transferOf(scope, block, one));
  const after = parameters.filter(({ kind }) => kind === "out").map((one) => transferOf(scope, block, one));
  return (slots) => {
    const { holder, index } = locate(slots);
    const instance = valueAt(holder, index) as Value[];
    for (const give of before) give(slots, instance);
    block.run(instance);
    for (const take of after) take(slots, instance);
  };
}

function transferOf(scope: Scope, block: CompiledUnit, parameter: Parameter): Transfer {
  if (parameter.kind === "out") return outputOf(scope, block, parameter);
  const variable = block.variables.get(parameter.name.toLowerCase());
  return variable?.section === "VAR_IN_OUT"
    ? referenceOf(scope, variable, parameter)
    : inputOf(scope, block, parameter);
}

type ParameterOf<Kind> = Extract<Parameter, { readonly kind: Kind }>;

function inputOf(scope: Scope, block: CompiledUnit, parameter: ParameterOf<"in">): Transfer {
  const { slot, type } = find(block, parameter, "VAR_INPUT", "input");
  const evaluate = convert(compileExpression(scope, parameter.value), type);
  return (slots, instance) => {
    instance[slot] = evaluate(slots);
  };
}

/** A VAR_IN_OUT stands for the caller's variable while the body runs. */
function referenceOf(scope: Scope, variable: Variable, { at, value }: ParameterOf<"in">): Transfer {
  if (value.kind !== "variable")
    throw new StructuredTextError(at, `a variable expected for the VAR_IN_OUT "${variable.name}"`);
  const target = compilePath(scope, value.path);
  const locate = locatorOfAssignable(target);
  if (!isSameType(target.type, variable.type)) {
    const found = typeName(target.type);
    throw new StructuredTextError(value.at, `${typeName(variable.type)} expected, found ${found}`);
  }
  return (slots, instance) => {
    instance[variable.slot] = locate(slots);
  };
}

function outputOf(scope: Scope, block: CompiledUnit, parameter: ParameterOf<"out">): Transfer {
  const { slot, type } = find(block, parameter, "VAR_OUTPUT", "output");
  const target = compilePath(scope, parameter.target);
  const locate = locatorOfAssignable(target);
  const output: Expr = { at: parameter.at, type, evaluate: (instance) => valueAt(instance, slot) };
  const evaluate = convert(output, target.type);
  return (slots, instance) => store(scope.machine, locate(slots), evaluate(instance));
}

function find(block: CompiledUnit, { at, name }: Parameter, section: Section, what: string): Variable {
  const variable = block.variables.get(name.toLowerCase());
  if (variable?.section === section) return variable;
  throw new StructuredTextError(at, `function block ${block.name} has no ${what} "${name}"`);
}

function requireInOuts(block: CompiledUnit, at: Position, parameters: readonly Parameter[]): void {
  const given = new Set(parameters.map(({ name }) => name.toLowerCase()));
  const missing = [...block.variables.values()].find(
    ({ section, name }) => section === "VAR_IN_OUT" && !given.has(name.toLowerCase()),
  );
  if (missing !== undefined)
    throw new StructuredTextError(
      at,
      `a variable expected for the VAR_IN_OUT "${missing.name}" of ${block.name}`,
    );
}
