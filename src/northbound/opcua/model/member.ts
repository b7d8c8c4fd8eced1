/** The scalar types that every PLC knows. */
export type TagType = "Boolean" | "Int32" | "Double" | "String" | "DateTime";

/** One tag of a type. Its key is its BrowseName and its English DisplayName: programs name tags by both. */
export interface TagModel extends Text {
  readonly type: TagType;
  /** The German DisplayName. */
  readonly german: string;
  /** Of a fixed array. */
  readonly length?: number;
  /** Operators may write it. */
  readonly isWritable?: true;
  /** Of the users that may write, only engineers may. */
  readonly isForEngineers?: true;
  /** Some instances lack it. */
  readonly isOptional?: true;
  /** Its past values can be read (HistoryRead). */
  readonly isHistorized?: true;
  /** OPC UA itself has named it. */
  readonly isProperty?: true;
  readonly unit?: Unit;
  /** The usual values, from and to (EURange). A percent deadband is a share of it. */
  readonly range?: readonly [low: number, high: number];
  /** The meaning of its numbers; it has a `ValueAsText`. */
  readonly enumeration?: EnumModel;
  /** The meaning of its numbers, for a tag without `ValueAsText`. */
  readonly numbers?: EnumModel;
}

/** Tags by name, in the order in which they are shown. */
export type TagTable = Readonly<Record<string, TagModel>>;

/** An object within an object. */
export interface ObjectMember extends Text {
  readonly model: ObjectModel;
  readonly german: string;
  readonly isOptional?: true;
}

/** The types of OPC UA itself that our types extend. */
export type StandardBase =
  | "BaseObjectType"
  | "BaseEventType"
  | "OffNormalAlarmType"
  | "ExclusiveLevelAlarmType"
  | "CertificateExpirationAlarmType";

/** An object type of our namespace. Its instances are built from the same tables as its node. */
export interface ObjectModel extends Text {
  /** The BrowseName of the type, and its NodeId. */
  readonly name: string;
  readonly german: string;
  /** The type whose members it inherits. */
  readonly base?: ObjectModel;
  /** The type of OPC UA that it extends, without a base; BaseObjectType if it is absent. */
  readonly standardBase?: StandardBase;
  readonly isAbstract?: true;
  /** The types of the conditions that its objects may have. */
  readonly conditions?: readonly ObjectModel[];
  readonly tags: TagTable;
  readonly objects?: Readonly<Record<string, ObjectMember>>;
  /** Any number of objects, each with a name of its own; in the type, `name` represents them. */
  readonly each?: ObjectMember & { readonly name: string };
}

/** A type and its base types, the most general first. */
export function lineage(model: ObjectModel): readonly ObjectModel[] {
  return model.base === undefined ? [model] : [...lineage(model.base), model];
}

/** The tag of this name in a type, or in one of its base types. */
export function tagModel(model: ObjectModel, name: string): TagModel | undefined {
  return lineage(model)
    .map(({ tags }) => tags[name])
    .find((tag) => tag !== undefined);
}

/** The member of this name of an object type. */
export function objectMember(model: ObjectModel, name: string): ObjectMember | undefined {
  const types = lineage(model);
  const named = types.map(({ objects }) => objects?.[name]).find((member) => member !== undefined);
  return named ?? types.map(({ each }) => each).find((member) => member !== undefined);
}

/** Whether there may be any number of this member. */
export function isAnyOf(model: ObjectModel, member: ObjectMember): boolean {
  return lineage(model).some(({ each }) => each === member);
}

/** A unit of UN/CEFACT recommendation 20, as OPC UA part 8, 5.6.4.3 asks for. */
export interface Unit {
  /** The common code. */
  readonly code: string;
  readonly symbol: string;
  readonly text: Text;
}

export const percent: Unit = { code: "P1", symbol: "%", text: { en: "percent", de: "Prozent" } };
export const second: Unit = { code: "SEC", symbol: "s", text: { en: "second", de: "Sekunde" } };
export const metre: Unit = { code: "MTR", symbol: "m", text: { en: "metre", de: "Meter" } };
export const millimetre: Unit = { code: "MMT", symbol: "mm", text: { en: "millimetre", de: "Millimeter" } };
export const radian: Unit = { code: "C81", symbol: "rad", text: { en: "radian", de: "Radiant" } };

/** A text for people, in the languages of the server. */
export interface Text {
  readonly en: string;
  readonly de: string;
}

/** A node for people: its name in German, and a description. In English its name is its BrowseName. */
export interface NamedText extends Text {
  readonly german: string;
}

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
