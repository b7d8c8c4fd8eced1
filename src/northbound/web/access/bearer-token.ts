import { timingSafeEqual } from "node:crypto";
import { digestOf } from "../../../platform/password.ts";
import type { WebToken } from "../options.ts";

/** The token of an `Authorization` header; null: the header has another scheme, or no token. */
export function bearerOf(header: string): string | null {
  return /^Bearer +([\w.~+/-]{1,256}=*)$/i.exec(header)?.[1] ?? null;
}

/** The token of the configuration that the client sent; if there is one. */
export function findToken(tokens: readonly WebToken[], shown: string): WebToken | null {
  const digest = digestOf(shown);
  return tokens.find((token) => timingSafeEqual(Buffer.from(token.digest, "hex"), digest)) ?? null;
}
