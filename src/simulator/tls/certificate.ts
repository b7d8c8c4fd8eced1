import { randomBytes } from "node:crypto";
import { createAuthority, issueCertificate } from "../../platform/certificate-authority.ts";
import type { KeyedCertificate } from "../../platform/keyed-certificate.ts";

const DAY_MS = 86_400_000;
const CA_LIFE_MS = 3_650 * DAY_MS;
// Some clients refuse server certificates that live longer than 398 days.
const SERVER_LIFE_MS = 397 * DAY_MS;

/** A CA of our own: it signs one server certificate and nothing else. */
export function createCa(nowMs: number): Promise<KeyedCertificate> {
  // A different name each time: the CAs of two simulators must not be confused.
  return createAuthority(`Fleetgate simulator CA ${randomBytes(4).toString("hex")}`, CA_LIFE_MS, nowMs);
}

/** A server certificate for `names` (host names and addresses), signed by `authority`. */
export function createServerCertificate(
  authority: KeyedCertificate,
  names: readonly string[],
  nowMs: number,
): Promise<KeyedCertificate> {
  const order = {
    commonName: "Fleetgate simulator",
    names,
    uses: ["server"],
    lifeMs: SERVER_LIFE_MS,
  } as const;
  return issueCertificate(authority, order, nowMs);
}
