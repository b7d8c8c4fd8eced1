import { plainStart } from "../../../platform/plain-text.ts";
import type { CertificateFacts } from "./certificate-facts.ts";
import { CertificateRefused } from "./refused.ts";

/** An object with a certificate. */
interface Candidate {
  readonly facts: CertificateFacts;
}

const SHORTEST_PREFIX = 4;

/**
 * The candidates with the one thumbprint that matches: SHA-1 or SHA-256, as a whole or its beginning, with or
 * without colons and spaces. Throws CertificateRefused if none matches, or several do.
 */
export function select<T extends Candidate>(candidates: readonly T[], wanted: string): readonly T[] {
  const prefix = wanted.replaceAll(/[\s:]/g, "").toLowerCase();
  if (!/^[0-9a-f]+$/.test(prefix) || prefix.length < SHORTEST_PREFIX) {
    throw new CertificateRefused(
      `${JSON.stringify(plainStart(wanted, 80))} is no thumbprint: give at least its first ${SHORTEST_PREFIX} hexadecimal digits, as fleetgate certs list shows them`,
      true,
    );
  }
  const found = candidates.filter(
    ({ facts }) => facts.thumbprint.startsWith(prefix) || facts.sha256.startsWith(prefix),
  );
  const different = new Map(found.map(({ facts }) => [facts.thumbprint, facts]));
  if (different.size === 0)
    throw new CertificateRefused(
      `no certificate has the thumbprint ${prefix}: fleetgate certs list shows all`,
    );
  if (different.size > 1) {
    const lines = [...different.values()].map(
      ({ thumbprint, subject }) => `\n  ${thumbprint}  ${plainStart(subject, 200)}`,
    );
    throw new CertificateRefused(
      `${prefix} fits ${different.size} certificates; give more of it:${lines.join("")}`,
    );
  }
  return found;
}
