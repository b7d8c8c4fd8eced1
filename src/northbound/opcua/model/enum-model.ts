import type { Text } from "./text.ts";

/** A number of an enumeration. */
interface EnumValue {
  readonly value: number;
  /** ValueAsText of it, in every language. */
  readonly name: string;
  /** What it means. */
  readonly text: Text;
}

/** The meaning of a tag's numbers. */
export interface EnumModel {
  /** Unique among all enumerations. */
  readonly name: string;
  readonly values: readonly EnumValue[];
}

/** An enumeration whose names are in the order of their numbers; each has its texts, English and German. */
export function enumModel<Name extends string>(
  name: string,
  names: readonly Name[],
  texts: Readonly<Record<Name, readonly [en: string, de: string]>>,
): EnumModel {
  return {
    name,
    values: names.map((each, value) => ({ value, name: each, text: textOf(texts[each]) })),
  };
}

/** An enumeration of numbers with gaps, with texts but no names. */
export function numberedModel(
  name: string,
  texts: Readonly<Record<number, readonly [en: string, de: string]>>,
): EnumModel {
  return {
    name,
    values: Object.entries(texts).map(([value, [en, de]]) => {
      return { value: Number(value), name: en, text: { en, de } };
    }),
  };
}

function textOf([en, de]: readonly [string, string]): Text {
  return { en, de };
}
