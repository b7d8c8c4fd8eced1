import { readNumber, readTyped } from "./literal.ts";
import { type Position, StructuredTextError } from "./structured-text-error.ts";
import { keywords, type Literal, symbols, type Token } from "./token.ts";

const space = /(?:\s+|\/\/[^\n]*)+/y;
const commentMark = /\(\*|\*\)/g;
const typed = /([A-Za-z_]\w*)#(-?\w+(?:[.#]\w+)*)/y;
const name = /[A-Za-z_]\w*/y;
const number = /(?:\d+#\w+|\d[\d_]*(?:\.\d[\d_]*(?:E[+-]?\d+)?)?)\w*/iy;
const string = /'((?:\$[^\n]|[^'$\n])*)'/y;
const escapeSequence = /\$([0-9A-F]{2}|.)/gi;

const escapes: Readonly<Record<string, string>> = {
  $: "$",
  "'": "'",
  L: "\n",
  N: "\n",
  P: "\f",
  R: "\r",
  T: "\t",
};

/**
 * The tokens of a text; the last is its end. Comments are skipped: `//`, and `(* *)`, which may be nested.
 * @throws StructuredTextError where the text cannot be divided into tokens
 */
export function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let offset = 0;
  let line = 1;
  let lineStart = 0;

  const position = (): Position => ({ line, column: offset - lineStart + 1 });

  const skip = (length: number): void => {
    for (const end = offset + length; offset < end; offset += 1) {
      if (text[offset] !== "\n") continue;
      line += 1;
      lineStart = offset + 1;
    }
  };

  while (offset < text.length) {
    const blank = matchAt(space, text, offset);
    if (blank !== null) skip(blank[0].length);
    else if (text.startsWith("(*", offset)) skip(commentLength(text, offset, position()));
    else {
      const token = tokenAt(text, offset, position());
      tokens.push(token);
      skip(token.text.length);
    }
  }
  return [...tokens, { ...position(), kind: "end", text: "" }];
}

function commentLength(text: string, offset: number, at: Position): number {
  let depth = 0;
  commentMark.lastIndex = offset;
  do {
    const mark = commentMark.exec(text);
    if (mark === null) throw new StructuredTextError(at, 'this comment has no end; "*)" expected');
    depth += mark[0] === "(*" ? 1 : -1;
  } while (depth > 0);
  return commentMark.lastIndex - offset;
}

function tokenAt(text: string, offset: number, at: Position): Token {
  const literal = (written: string, value: Literal): Token => ({
    ...at,
    kind: "literal",
    text: written,
    literal: value,
  });

  const prefixed = matchAt(typed, text, offset);
  if (prefixed !== null) return literal(prefixed[0], readTyped(prefixed[1] ?? "", prefixed[2] ?? "", at));
  const word = matchAt(name, text, offset);
  if (word !== null) return wordToken(word[0], at);
  const figures = matchAt(number, text, offset);
  if (figures !== null) return literal(figures[0], readNumber(figures[0], at));
  const quoted = matchAt(string, text, offset);
  if (quoted !== null)
    return literal(quoted[0], { type: "STRING", value: withoutEscapes(quoted[1] ?? "", at) });
  const symbol = symbols.find((candidate) => text.startsWith(candidate, offset));
  if (symbol !== undefined) return { ...at, kind: "symbol", text: symbol };
  if (text[offset] === "'")
    throw new StructuredTextError(at, "this string does not end in its line; ' expected");
  const found = String.fromCodePoint(text.codePointAt(offset) ?? 0);
  throw new StructuredTextError(at, `"${found}" has no meaning in structured text`);
}

function wordToken(text: string, at: Position): Token {
  const capitals = text.toUpperCase();
  if (capitals === "TRUE" || capitals === "FALSE")
    return { ...at, kind: "literal", text, literal: { type: "BOOL", value: capitals === "TRUE" } };
  // Capitals in `text` keep its length, which the lexer goes on by.
  return keywords.has(capitals) ? { ...at, kind: "keyword", text: capitals } : { ...at, kind: "name", text };
}

function withoutEscapes(text: string, at: Position): string {
  return text.replace(escapeSequence, (_, code: string) => {
    if (/^[0-9A-F]{2}$/i.test(code)) return String.fromCharCode(Number.parseInt(code, 16));
    const meant = escapes[code.toUpperCase()];
    if (meant !== undefined) return meant;
    throw new StructuredTextError(
      at,
      `"$${code}" is no escape; one of $$, $', $L, $N, $P, $R, $T or $0D expected`,
    );
  });
}

/** What a sticky pattern matches at a place. */
function matchAt(pattern: RegExp, text: string, offset: number): RegExpExecArray | null {
  pattern.lastIndex = offset;
  return pattern.exec(text);
}
