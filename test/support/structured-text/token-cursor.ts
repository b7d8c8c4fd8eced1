import { tokensOf } from "./lexer.ts";
import { type Position, StructuredTextError } from "./structured-text-error.ts";
import { type Literal, type Token, tokenName } from "./token.ts";

/** Reads the tokens of a text one after the other. */
export interface TokenCursor {
  /** The next token, or one of those behind it. */
  peek(ahead?: number): Token;
  /** Whether the next token is one of these keywords or symbols. */
  sees(...texts: readonly string[]): boolean;
  /** Takes the next token if it is this keyword or symbol. */
  accept(text: string): Token | null;
  /** Takes the next token, which must be this keyword or symbol; `where` ends the message of the error. */
  expect(text: string, where?: string): Token;
  /** Takes a name; `what` says of what. */
  expectName(what: string): Token;
  acceptLiteral(): (Position & { readonly literal: Literal }) | null;
  /** An integer without type, with or without a minus. */
  expectInteger(what: string): number;
  /** The error of a text that goes on otherwise than it should. */
  unexpected(expected: string): StructuredTextError;
}

/** @throws StructuredTextError where the text cannot be divided into tokens */
export function createTokenCursor(text: string): TokenCursor {
  const tokens = tokensOf(text);
  let next = 0;

  const peek = (ahead = 0): Token => {
    const token = tokens[Math.min(next + ahead, tokens.length - 1)];
    if (token === undefined) throw new Error("a text has at least its end");
    return token;
  };
  const isOne = (token: Token, text: string) =>
    (token.kind === "keyword" || token.kind === "symbol") && token.text === text;
  const take = () => {
    const token = peek();
    next += 1;
    return token;
  };
  const unexpected = (expected: string) =>
    new StructuredTextError(peek(), `${expected} expected, found ${tokenName(peek())}`);
  const accept = (text: string) => (isOne(peek(), text) ? take() : null);
  const acceptLiteral = () => {
    const token = peek();
    if (token.kind !== "literal") return null;
    next += 1;
    return token;
  };

  return {
    peek,
    accept,
    acceptLiteral,
    unexpected,
    sees: (...texts) => texts.some((text) => isOne(peek(), text)),
    expect(text, where = "") {
      const token = accept(text);
      if (token === null) throw unexpected(`"${text}"${where}`);
      return token;
    },
    expectName(what) {
      if (peek().kind !== "name") throw unexpected(what);
      return take();
    },
    expectInteger(what) {
      const token = peek(isOne(peek(), "-") ? 1 : 0);
      if (token.kind !== "literal" || token.literal.type !== "integer literal") throw unexpected(what);
      const sign = accept("-") === null ? 1 : -1;
      next += 1;
      return sign * Number(token.literal.value) + 0;
    },
  };
}
