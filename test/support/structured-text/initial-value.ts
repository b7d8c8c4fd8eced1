import { convert, copyOf } from "./conversion.ts";
import { boundsOf, type DataType, defaultOf, typeName } from "./data-type.ts";
import { compileConstant } from "./expression-compiler.ts";
import { createInstance, type Scope } from "./scope.ts";
import { type Position, StructuredTextError } from "./structured-text-error.ts";
import type { Declaration, Initial } from "./syntax.ts";
import type { Value } from "./value.ts";

type FindBlock = Scope["block"];

/**
 * Makes the first value of a variable, a new one each time.
 * @throws StructuredTextError when its type is unknown, or the initial value does not fit
 */
export function compileInitial(block: FindBlock, declaration: Declaration): () => Value {
  const { at, type, initial, section } = declaration;
  if (initial !== null) {
    const value = initialOf(block, type, initial);
    return () => copyOf(value);
  }
  const create = defaultCreator(block, type, at);
  // Outside of a call it stands for a variable of its own, which the host may read and set.
  if (section === "VAR_IN_OUT") return () => ({ holder: [create()], index: 0, shared: null });
  return create;
}

function defaultCreator(block: FindBlock, type: DataType, at: Position): () => Value {
  switch (type.kind) {
    case "ARRAY": {
      const create = defaultCreator(block, type.of, at);
      return () => Array.from({ length: type.high - type.low + 1 }, create);
    }
    case "block": {
      const { variables } = block(type.name, at);
      return () => createInstance(variables);
    }
    default:
      return () => defaultOf(type);
  }
}

function initialOf(block: FindBlock, type: DataType, initial: Initial): Value {
  if (initial.kind === "value") return convert(compileConstant(initial.expression), type)([]);
  const { at, items } = initial;
  if (type.kind !== "ARRAY")
    throw new StructuredTextError(at, `a value of ${typeName(type)} expected, found "["`);
  const length = type.high - type.low + 1;
  const given = items.flatMap(({ count, initial: each }) => {
    const value = initialOf(block, type.of, each);
    return Array.from({ length: count }, () => copyOf(value));
  });
  if (given.length > length)
    throw new StructuredTextError(
      at,
      `at most ${length} values expected for ${boundsOf(type)}, found ${given.length}`,
    );
  const create = defaultCreator(block, type.of, at);
  return [...given, ...Array.from({ length: length - given.length }, create)];
}
