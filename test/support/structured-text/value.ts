/** A value in the memory of the PLC: an array and a block instance are lists, a VAR_IN_OUT is a place. */
export type Value = boolean | number | string | Value[] | Place;

/** Where a value is kept. */
export interface Place {
  readonly holder: Value[];
  readonly index: number;
  /** The global or external variable that it is part of, as declared. */
  readonly shared: string | null;
}

/** Yields a value; `slots` are the variables of the instance that runs. The type is known from compiling. */
export type Evaluator = (slots: Value[]) => Value;

export function asNumber(evaluate: Evaluator): (slots: Value[]) => number {
  return evaluate as (slots: Value[]) => number;
}

export function asBoolean(evaluate: Evaluator): (slots: Value[]) => boolean {
  return evaluate as (slots: Value[]) => boolean;
}

export function asText(evaluate: Evaluator): (slots: Value[]) => string {
  return evaluate as (slots: Value[]) => string;
}

/** What `index` of the instance or array holds; compiling has made sure that there is something. */
export function valueAt(holder: readonly Value[], index: number): Value {
  const value = holder[index];
  if (value === undefined) throw new Error(`no value at ${index} of ${holder.length}`);
  return value;
}
