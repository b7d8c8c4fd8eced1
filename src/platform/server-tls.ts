import { createSecureContext } from "node:tls";
import { messageOf } from "./error-text.ts";

/** Certificate and key as PEM. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

/** What a weak certificate must be replaced with. */
export const STRONG_ENOUGH = "RSA with 2048 bits or more, or an elliptic curve, signed with SHA-256";

/**
 * Why TLS does not accept a certificate with its key, as the end of a sentence; null: it does. Newer versions
 * of OpenSSL refuse more than older ones.
 */
export function tlsProblem({ cert, key }: TlsPair): string | null {
  try {
    createSecureContext({ cert, key });
    return null;
  } catch (error) {
    const reason = messageOf(error);
    if (/key too small/i.test(reason))
      return `has a key that is too short for TLS: it needs ${STRONG_ENOUGH}`;
    if (/md too weak/i.test(reason))
      return `has a signature that is too weak for TLS (SHA-1 or MD5): it needs ${STRONG_ENOUGH}`;
    return `is not taken by TLS: ${reason}`;
  }
}

/**
 * The pair that a listener uses. One that TLS does not accept is left out: then every handshake of this
 * listener fails, and the gateway goes on.
 */
export function usablePair(pair: TlsPair): TlsPair | Record<string, never> {
  return tlsProblem(pair) === null ? pair : {};
}

/**
 * For the health of a listener: what is wrong with the certificate and key of a configuration key; null:
 * nothing.
 */
export function listenerTlsProblem(key: string, pair: TlsPair | null): string | null {
  const problem = pair === null ? null : tlsProblem(pair);
  return problem === null ? null : `every TLS handshake fails: the certificate of ${key} ${problem}`;
}
