import type { en } from "./en.ts";

export type Language = "en" | "de";

/** The texts of one language. */
export interface Spoken {
  readonly language: Language;
  /** Used if the browser wishes no other one of the language. */
  readonly locale: string;
  readonly texts: Readonly<Record<TextKey, string>>;
  /** Words of the gateway and the fleet service, in lower case; English has those of the codes. */
  readonly words: Readonly<Record<string, string>>;
  /**
   * Cause, advice and what robots do meanwhile, by the code of an alarm; English has those of the gateway.
   */
  readonly alarms: Readonly<Record<string, AlarmTexts>>;
}

export interface AlarmTexts {
  readonly cause: string;
  readonly advice: string;
  /** Whether robots may move meanwhile, and what the gateway sends. */
  readonly robots: string;
}

export type TextKey = keyof typeof en;

/** The names in braces of a text. */
type NamesIn<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;
type Names<Key extends TextKey> = NamesIn<(typeof en)[Key]>;
/** The values for the names of a text. */
export type Values<Key extends TextKey, Value> = Readonly<Record<Names<Key>, Value>>;
/** The keys of texts without names. */
export type PlainKey = { [Key in TextKey]: [Names<Key>] extends [never] ? Key : never }[TextKey];
export type Given<Key extends TextKey> = [Names<Key>] extends [never] ? [] : [Values<Key, string | number>];
