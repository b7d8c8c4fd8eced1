import { timingSafeEqual } from "node:crypto";
import { digestOf } from "../../../platform/password.ts";
import type { WebToken } from "../options.ts";

/** The token of an `Authorization` header; null: the header is of another kind, or has none. */
export function bearerOf(header: string): string | null {
  return /^Bearer +([\w.~+/-]{1,256}=*)$/i.exec(header)?.[1] ?? null;
}

/** The token that a client shows, if the configuration has it. */
export function findToken(tokens: readonly WebToken[], shown: string): WebToken | null {
  const digest = digestOf(shown);
  return tokens.find((token) => timingSafeEqual(Buffer.from(token.digest, "hex"), digest)) ?? null;
}
