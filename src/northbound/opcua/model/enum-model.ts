import type { Text } from "./text.ts";

/** A number of an enumeration. */
interface EnumValue {
  readonly value: number;
  /** As `ValueAsText` shows it, in every language. */
  readonly name: string;
  /** What it means. */
  readonly text: Text;
}

/** What the numbers of a tag mean. */
export interface EnumModel {
  /** Unlike that of every other enumeration. */
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

/** An enumeration of numbers with gaps, which has no names but its texts. */
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
