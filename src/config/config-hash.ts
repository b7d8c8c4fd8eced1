import { createHash } from "node:crypto";
import { redact } from "./redact.ts";

const SHOWN_DIGITS = 16;

/**
 * A few hexadecimal digits that change with the configuration, without its secrets. They show whether two
 * gateways have the same configuration.
 */
export function configHash(config: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(redact(config)))
    .digest("hex")
    .slice(0, SHOWN_DIGITS);
}
