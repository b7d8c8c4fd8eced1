import { dirname, join } from "node:path";

/** The CA that `fleetgate init` makes: its certificate beside the gateway's, its key beside the gateway's. */
export const ownAuthority = { certificate: "gateway-ca.pem", key: "gateway-ca.key" } as const;

/** Where the CA of a certificate would lie. */
export function authorityBeside(
  certificateFile: string,
  keyFile: string,
): { readonly certificateFile: string; readonly keyFile: string } {
  return {
    certificateFile: join(dirname(certificateFile), ownAuthority.certificate),
    keyFile: join(dirname(keyFile), ownAuthority.key),
  };
}
