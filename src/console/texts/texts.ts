import type { later } from "./en/later.ts";
import type { en } from "./en.ts";

type Language = "en" | "de";

/** The texts of one language. */
export interface Spoken {
  readonly language: Language;
  /** Used if the browser wishes no other one of the language. */
  readonly locale: string;
  readonly texts: Readonly<Record<keyof typeof en, string>>;
  /** For the views that are loaded when they are first shown. */
  readonly more: () => Promise<{
    readonly later: Readonly<Record<keyof typeof later, string>>;
    /** Sentences of the gateway, with names in braces. English has them as they come. */
    readonly sayings: Readonly<Record<string, string>>;
    /** Names of the fields of requests. */
    readonly fields: Readonly<Record<string, string>>;
    /** Further words of the gateway, as `words` of this interface has them. */
    readonly words: Readonly<Record<string, string>>;
  }>;
  /** Words of the gateway and the fleet service, in lower case; English has those of the codes. */
  readonly words: Readonly<Record<string, string>>;
  /**
   * Cause, advice and what robots do meanwhile, by the code of an alarm; English has those of the gateway.
   */
  readonly alarms: () => Promise<AlarmTextsByCode>;
}

export interface AlarmTexts {
  readonly cause: string;
  readonly advice: string;
  /** Whether robots may move meanwhile, and what the gateway sends. */
  readonly robots: string;
}

export type AlarmTextsByCode = Readonly<Record<string, AlarmTexts>>;

type English = typeof en & typeof later;
export type TextKey = keyof English;

/** The names in braces of a text. */
type NamesIn<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;
type Names<Key extends TextKey> = NamesIn<English[Key]>;
/** The values for the names of a text. */
export type Values<Key extends TextKey, Value> = Readonly<Record<Names<Key>, Value>>;
/** The keys of texts without names. */
export type PlainKey = { [Key in TextKey]: [Names<Key>] extends [never] ? Key : never }[TextKey];
type Given<Key extends TextKey> = [Names<Key>] extends [never] ? [] : [Values<Key, string | number>];

let spoken: Spoken;
let texts: Readonly<Record<TextKey, string>>;
let sayings: ReadonlyArray<readonly [RegExp, string]> = [];
let fields: Readonly<Record<string, string>> = {};
let words: Readonly<Record<string, string>> = {};
let plural: Intl.PluralRules;
let dates: Intl.DateTimeFormat;
let numbers: Map<number, Intl.NumberFormat>;

/**
 * From now on the page speaks this language. Called once, before anything is shown: another choice loads the
 * page again, so nothing that is shown ever has to be translated.
 */
export function speak(chosen: Spoken, wished: readonly string[]): void {
  const locale = wished.find((each) => each.startsWith(chosen.language)) ?? chosen.locale;
  spoken = { ...chosen, locale };
  texts = chosen.texts as typeof texts;
  words = chosen.words;
  plural = new Intl.PluralRules(locale);
  dates = datesOf(locale);
  numbers = new Map();
}

/** Loads the texts of views that are loaded later, before the first of them is shown. */
export async function speakMore(): Promise<void> {
  const more = await spoken.more();
  texts = { ...texts, ...more.later };
  fields = more.fields;
  words = { ...words, ...more.words };
  sayings = Object.entries(more.sayings).map(([saying, text]) => [
    patternOf(saying),
    text.replace(/\{(\w+)\}/g, "$<$1>"),
  ]);
}

/** Matches a saying with any values for its names. */
function patternOf(saying: string): RegExp {
  const escaped = saying.replace(/[.*+?()[\]\\^$|]/g, "\\$&");
  return new RegExp(`^${escaped.replace(/\{(\w+)\}/g, "(?<$1>.+)")}$`, "s");
}

/** The name of a field of a request for people. In German the name of the service stands beside it. */
export function fieldText(name: string): string {
  const plain = name.toLowerCase().replaceAll("_", " ");
  const known = fields[plain];
  return known === undefined || known.toLowerCase() === plain ? (known ?? plain) : `${known} (${plain})`;
}

/** A sentence of the gateway, or some with semicolons between. One that is not known stays English. */
export function inWords(text: string): string {
  return text
    .split("; ")
    .map((part) => {
      for (const [pattern, saying] of sayings) if (pattern.test(part)) return part.replace(pattern, saying);
      return part;
    })
    .join("; ");
}

/** The user's choice, or else the first language of the browser that there is. */
export function languageOf(chosen: string | null, wished: readonly string[]): Language {
  const known = [chosen ?? "", ...wished].map((each) => each.slice(0, 2));
  const found = known.find((each) => each === "en" || each === "de");
  return found === "de" ? "de" : "en";
}

/** A text with its values. If it has two forms, `count` says which. */
export function say<Key extends TextKey>(key: Key, ...[values]: Given<Key>): string {
  // Said for each of a thousand robots.
  if (values === undefined) return texts[key];
  const all: Readonly<Record<string, string | number>> = values;
  return formOf(key, all.count).replace(/\{(\w+)\}/g, (_, name: string) => `${all[name]}`);
}

/** The form of a text for a number of things, with its names in braces. */
export function formOf(key: TextKey, count: unknown): string {
  const [one = "", many = one] = texts[key].split("|");
  return typeof count === "number" && plural.select(count) === "one" ? one : many;
}

/** A word of the gateway or the service, as `STATE_PAUSED` without its prefix. */
export function word(code: string): string {
  const plain = code.toLowerCase().replaceAll("_", " ");
  const known = words[plain];
  if (known !== undefined || isEnglish()) return known ?? plain;
  // The alarm of a conveyor ends with its number.
  const [, name = "", number = ""] = /^(.*?)( -?\d+)$/.exec(plain) ?? [];
  const named = words[name];
  return named === undefined ? plain : `${named}${number}`;
}

/** The texts of alarms in this language. What is not in them stays as the gateway says it. */
export function readAlarmTexts(): Promise<AlarmTextsByCode> {
  return spoken.alarms();
}

/** One of the texts that the gateway has in both languages. */
export function inLanguage(texts: Readonly<Record<Language, string>>): string {
  return texts[spoken.language];
}

/** Whether the gateway's own texts, which are English, can stay as they are. */
export function isEnglish(): boolean {
  return spoken.language === "en";
}

export function numberText(value: number, digits = 0): string {
  let format = numbers.get(digits);
  if (format === undefined) {
    const fraction = { minimumFractionDigits: digits, maximumFractionDigits: digits };
    format = new Intl.NumberFormat(spoken.locale, { ...fraction, useGrouping: false });
    numbers.set(digits, format);
  }
  return format.format(value);
}

export function dateText(wallMs: number): string {
  return dates.format(wallMs);
}

function datesOf(locale: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" });
}
