import type { EnumModel, TagModel, Text, Unit } from "./member.ts";

/** The property that names the values of an enumeration (OPC UA part 8, 5.3.3.4). */
export const ENUM_VALUES = "EnumValues";

/** The property of an enumeration that shows its value's name. */
export const VALUE_AS_TEXT = "ValueAsText";

/** The units of UN/CEFACT (OPC UA part 8, 5.6.4.3). */
export const CEFACT = "http://www.opcfoundation.org/UA/units/un/cefact";

export const valueAsText = {
  german: "Wert als Text",
  en: "The same as text, for people",
  de: "Dasselbe als Text, für Menschen",
} as const;

/** The texts of properties that many tags share. */
export const propertyTexts = {
  [ENUM_VALUES]: {
    german: "Werte",
    en: "What each number means",
    de: "Was jede Zahl bedeutet",
  },
  EngineeringUnits: {
    german: "Einheit",
    en: "The unit of the value",
    de: "Die Einheit des Werts",
  },
  EURange: {
    german: "Bereich",
    en: "From where to where the value usually is; a percent deadband is a part of that",
    de: "Von wo bis wo der Wert üblicherweise liegt; ein Prozent-Totband ist ein Teil davon",
  },
} as const satisfies Readonly<Record<string, Text & { readonly german: string }>>;

/** A property that is one node for all tags with the same value: `<name>.<of>`. */
export type SharedProperty =
  | { readonly name: typeof ENUM_VALUES; readonly of: string; readonly enumeration: EnumModel }
  | { readonly name: "EngineeringUnits"; readonly of: string; readonly unit: Unit }
  | { readonly name: "EURange"; readonly of: string; readonly range: readonly [low: number, high: number] };

/** The shared properties of a tag; most tags have none. */
export function sharedPropertiesOf({
  enumeration = undefined,
  numbers = enumeration,
  unit,
  range,
}: Pick<TagModel, "enumeration" | "numbers" | "unit" | "range">): readonly SharedProperty[] {
  return [
    ...(numbers === undefined
      ? []
      : [{ name: ENUM_VALUES, of: numbers.name, enumeration: numbers } as const]),
    ...(range === undefined ? [] : [{ name: "EURange", of: `${range[0]} to ${range[1]}`, range } as const]),
    ...(unit === undefined ? [] : [{ name: "EngineeringUnits", of: unit.code, unit } as const]),
  ];
}

/**
 * The kind of a tag's variable. All but `tag` refer to properties of their own. A property is one that OPC UA
 * itself has named.
 */
export type TagKind = "tag" | "numbered" | "enumeration" | "range" | "unit" | "property";

/** A tag that no type declares has neither unit nor range. */
export function tagKind(model: Partial<Omit<TagModel, "type">>): TagKind {
  if (model.enumeration !== undefined) return "enumeration";
  if (model.isProperty === true) return "property";
  if (model.unit !== undefined) return model.range === undefined ? "unit" : "range";
  return model.numbers === undefined ? "tag" : "numbered";
}
