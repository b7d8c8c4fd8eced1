import { createSecureContext } from "node:tls";
import { messageOf } from "./error-text.ts";

/** Certificate and key as PEM. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

/** What a weak certificate has to become. */
export const STRONG_ENOUGH = "RSA with 2048 bits or more, or an elliptic curve, signed with SHA-256";

/**
 * Why TLS does not take a certificate with its key, as the end of a sentence; null when it does. Newer
 * versions of OpenSSL refuse more than older ones.
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
 * What a listener shows. A pair that TLS does not take is left out: then every handshake of this listener
 * fails, and the gateway goes on.
 */
export function usablePair(pair: TlsPair): TlsPair | Record<string, never> {
  return tlsProblem(pair) === null ? pair : {};
}

/**
 * For the health of a listener: what is wrong with the pair behind a key of the configuration; null: nothing.
 */
export function listenerTlsProblem(key: string, pair: TlsPair | null): string | null {
  const problem = pair === null ? null : tlsProblem(pair);
  return problem === null ? null : `every TLS handshake fails: the certificate of ${key} ${problem}`;
}
