/** A text in a program, with what it is given to. */
export interface Literal {
  /** As it would be at run time; what is filled in is NUL. */
  readonly text: string;
  readonly line: number;
  /** The calls that it stands in, from the outermost: `log.warn`, `Error`. */
  readonly calls: readonly string[];
}

/**
 * Every string and template of a TypeScript source, in order. Comments and regular expressions are passed
 * over.
 */
export function literalsOf(source: string): readonly Literal[] {
  const found: Literal[] = [];
  const calls: string[] = [];
  let place = 0;

  function string(quote: string): string {
    let text = "";
    for (place += 1; source[place] !== quote; place += 1) {
      if (source[place] === "\\") place += 1;
      text += source[place];
    }
    return text;
  }

  function template(): string {
    let text = "";
    for (place += 1; source[place] !== "`"; place += 1) {
      if (source[place] === "\\") {
        place += 1;
        text += source[place];
      } else if (source.startsWith("${", place)) {
        place += 2;
        code("}");
        text += "\0";
      } else text += source[place];
    }
    return text;
  }

  function regex(): void {
    let inClass = false;
    for (place += 1; inClass || source[place] !== "/"; place += 1) {
      if (source[place] === "\\") place += 1;
      else if (source[place] === "[") inClass = true;
      else if (source[place] === "]") inClass = false;
    }
  }

  function skipComment(): boolean {
    const end = source.startsWith("//", place) ? "\n" : source.startsWith("/*", place) ? "*/" : null;
    if (end === null) return false;
    place = source.indexOf(end, place) + end.length - 1;
    return true;
  }

  /** Up to `end` at the same depth. */
  function code(end: string): void {
    let braces = 0;
    for (; place < source.length; place += 1) {
      const at = source[place] ?? "";
      if (skipComment()) continue;
      if (at === end && braces === 0) return;
      if (at === "{") braces += 1;
      else if (at === "}") braces -= 1;
      else if (at === "(") calls.push(/([\w.]+)$/.exec(source.slice(0, place))?.[1] ?? "");
      else if (at === ")") calls.pop();
      else if (at === "/" && /[(=,:!&|?{}[;]\s*$|\breturn\s+$/.test(source.slice(0, place))) regex();
      else if (at === '"' || at === "'" || at === "`") {
        const line = source.slice(0, place).split("\n").length;
        const text = at === "`" ? template() : string(at);
        found.push({ text, line, calls: [...calls] });
      }
    }
  }

  code("");
  return found.sort((a, b) => a.line - b.line);
}
