/** The key that decides on topics: of `mqtt`, or the place of a station. */
export type TopicKey =
  | readonly ["base"]
  | readonly ["placement", "robot" | "station"]
  | { readonly station: string };

/** A level: a text, or what may stand there. */
type Level = string | Choice;

/** What a placeholder may be; without `values` and `pattern`: any text. */
interface Choice {
  readonly name: string;
  readonly values?: ReadonlySet<string>;
  readonly pattern?: RegExp;
}

/** Topics of one kind, by their levels. */
export interface TopicShape {
  /** Whose topics they are, for a message. */
  readonly name: string;
  /** The key that decides on them. */
  readonly at: TopicKey;
  readonly levels: readonly Level[];
}

/** A flat topic has up to so many levels in place of `{tag}`. */
const TAG_LEVELS = 3;
const digits = /^\d+$/;
const word = /^[a-z_]+$/;

/** The shapes of a template: one, or several where a placeholder has several levels. */
export function shapeOf(
  parts: Omit<TopicShape, "levels"> & {
    readonly template: string;
    readonly robots: ReadonlySet<string> | null;
  },
): readonly TopicShape[] {
  const { name, at, template, robots } = parts;
  const levels = template.split("/").map((level): Level => {
    const placeholder = /^\{(\w+)\}$/.exec(level)?.[1];
    return placeholder === undefined ? level : choiceOf(placeholder, robots);
  });
  const tag = levels.findIndex((level) => typeof level !== "string" && level.name === "tag");
  if (tag === -1) return [{ name, at, levels }];
  return Array.from({ length: TAG_LEVELS }, (_, more) => ({
    name,
    at,
    levels: levels.toSpliced(tag, 1, ...Array.from({ length: more + 1 }, () => ({ name: "tag" }))),
  }));
}

function choiceOf(name: string, robots: ReadonlySet<string> | null): Choice {
  switch (name) {
    case "robot":
    case "alias":
      return robots === null ? { name } : { name, values: robots };
    case "index":
    case "chain":
    case "map":
      return { name, pattern: digits };
    case "kind":
      return { name, pattern: word };
    default:
      return { name };
  }
}

/** A topic that is of both; null when there can be none. */
export function collisionOf(a: readonly Level[], b: readonly Level[]): string | null {
  if (a.length !== b.length) return null;
  return commonBeginning(a, b);
}

/** What two topics can have in common, as far as the shorter one goes; null: they differ before. */
export function commonBeginning(a: readonly Level[], b: readonly Level[]): string | null {
  const common: string[] = [];
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    const level = commonLevel(a[index] ?? "", b[index] ?? "");
    if (level === null) return null;
    common.push(level);
  }
  return common.join("/");
}

function commonLevel(a: Level, b: Level): string | null {
  if (typeof a === "string") {
    if (typeof b === "string") return a === b ? a : null;
    return mayBe(b, a) ? a : null;
  }
  if (typeof b === "string") return mayBe(a, b) ? b : null;
  if (a.values !== undefined) {
    const { values } = a;
    return [...values].find((value) => mayBe(b, value)) ?? null;
  }
  if (b.values !== undefined) return commonLevel(b, a);
  const isApart = a.pattern !== undefined && b.pattern !== undefined && a.pattern !== b.pattern;
  return isApart ? null : `{${a.pattern === undefined ? b.name : a.name}}`;
}

function mayBe({ values, pattern }: Choice, text: string): boolean {
  return (values?.has(text) ?? true) && (pattern?.test(text) ?? true);
}
