import type { KeyedCertificate } from "../../src/platform/certificate-authority.ts";
import { createAuthority, issueCertificate } from "../../src/platform/certificate-authority.ts";

const TEN_YEARS_MS = 3_650 * 86_400_000;

/** A server's certificate for `names` that lives for ten years, of an authority that nobody knows. */
export async function serverCertificate(names: readonly string[], nowMs: number): Promise<KeyedCertificate> {
  const authority = await createAuthority("unknown", TEN_YEARS_MS, nowMs);
  return issueCertificate(
    authority,
    { commonName: names[0] ?? "localhost", names, uses: ["server"], lifeMs: TEN_YEARS_MS },
    nowMs,
  );
}
