import { type BlockType, type DataType, holdsBlocks, integerRanges, typeName } from "./data-type.ts";
import type { Scope, Variable, Variables } from "./scope.ts";
import { type Place, type Value, valueAt } from "./value.ts";

/** A value as the host gives and takes it; TIME is in milliseconds, an array begins at its first index. */
export type HostValue = boolean | number | string | readonly HostValue[];

/** Retained variables by their path: `step`, `fb.myTicket`, `VAR_GLOBAL.total`. */
export type Snapshot = Readonly<Record<string, HostValue>>;

/** An instance, or the global variables, with the names in it. */
export interface Memory {
  readonly variables: Variables;
  readonly slots: Value[];
}

type FindBlock = Scope["block"];

/** Blocks are compiled before there are instances of them, so looking one up again finds no mistake. */
const unplaced = { line: 1, column: 1 };

/** A variable and where its value is. */
export interface Cell {
  readonly type: DataType;
  readonly place: Place;
}

/** The variable that a path of names leads to, such as `fb.step`; null: there is none. */
export function findCell(block: FindBlock, memory: Memory, path: string): Cell | null {
  const [first = "", ...rest] = path.split(".");
  const variable = memory.variables.get(first.toLowerCase());
  if (variable === undefined) return null;
  const cell = cellOf(memory, variable);
  if (rest.length === 0) return cell;
  return cell.type.kind === "block"
    ? findCell(block, instanceIn(block, cell, cell.type), rest.join("."))
    : null;
}

/** The retained variables of an instance and of all instances in it, with their paths. */
export function retainedCells(
  block: FindBlock,
  memory: Memory,
  prefix: string,
  isRetained = false,
): readonly (readonly [string, Cell])[] {
  return [...memory.variables.values()].flatMap((variable) =>
    variable.section === "VAR_IN_OUT"
      ? []
      : cellsWithin(
          block,
          cellOf(memory, variable),
          `${prefix}${variable.name}`,
          isRetained || variable.retain,
        ),
  );
}

function cellsWithin(
  block: FindBlock,
  cell: Cell,
  path: string,
  isRetained: boolean,
): readonly (readonly [string, Cell])[] {
  const { type } = cell;
  if (type.kind === "block")
    return retainedCells(block, instanceIn(block, cell, type), `${path}.`, isRetained);
  if (type.kind !== "ARRAY" || !holdsBlocks(type)) return isRetained ? [[path, cell]] : [];
  const holder = valueIn(cell) as Value[];
  return holder.flatMap((_, index) => {
    const element: Cell = { type: type.of, place: { holder, index, shared: null } };
    return cellsWithin(block, element, `${path}[${type.low + index}]`, isRetained);
  });
}

function cellOf({ slots }: Memory, { section, slot, type }: Variable): Cell {
  const place = { holder: slots, index: slot, shared: null };
  return { type, place: section === "VAR_IN_OUT" ? (valueAt(slots, slot) as Place) : place };
}

function instanceIn(block: FindBlock, cell: Cell, type: BlockType): Memory {
  return { variables: block(type.name, unplaced).variables, slots: valueIn(cell) as Value[] };
}

function valueIn({ place }: Cell): Value {
  return valueAt(place.holder, place.index);
}

/** The value of a variable, for the host. @throws Error for an instance, which has no value of its own */
export function readCell(name: string, cell: Cell): HostValue {
  return hostValueOf(name, cell.type, valueIn(cell));
}

function hostValueOf(name: string, type: DataType, value: Value): HostValue {
  if (type.kind === "ARRAY") return (value as Value[]).map((element) => hostValueOf(name, type.of, element));
  if (type.kind === "block") throw new Error(`${name}: a variable expected, found ${typeName(type)}`);
  return value as HostValue;
}

/** Gives a variable a value of the host's. @throws Error for a value that is not of its type */
export function writeCell(name: string, { type, place }: Cell, value: HostValue): void {
  place.holder[place.index] = valueFrom(name, type, value);
}

function valueFrom(name: string, type: DataType, value: HostValue): Value {
  if (type.kind === "ARRAY" && Array.isArray(value) && value.length === type.high - type.low + 1)
    return value.map((element) => valueFrom(name, type.of, element));
  if (isOf(type, value)) return type.kind === "REAL" ? Math.fround(Number(value)) : value;
  throw new Error(`${name}: a value of ${typeName(type)} expected, found ${JSON.stringify(value)}`);
}

function isOf(type: DataType, value: HostValue): value is boolean | number | string {
  switch (type.kind) {
    case "BOOL":
      return typeof value === "boolean";
    case "STRING":
      return typeof value === "string" && Buffer.byteLength(value) <= type.maxBytes;
    case "INT":
    case "DINT": {
      const { least, most } = integerRanges[type.kind];
      return Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
    }
    case "REAL":
      return Number.isFinite(value) && Number.isFinite(Math.fround(Number(value)));
    case "LREAL":
    case "TIME":
      return Number.isFinite(value);
    case "ARRAY":
    case "block":
      return false;
  }
}
