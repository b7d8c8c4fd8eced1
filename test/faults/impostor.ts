import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createCa, createServerCertificate } from "../../src/simulator/tls/identity.ts";
import { startBareHttp2 } from "../support/bare-http2.ts";

/** A gRPC server whose certificate is not to be trusted. */
export interface Impostor {
  readonly address: string;
  /** Requests that reached it all the same. */
  requests(): number;
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;

/**
 * A server that could take the service's place but for its certificate: of the service's own authority but
 * expired or for another name, or of another authority.
 * @param caFile the service's authority, beside which its key is
 */
export async function startImpostor(
  fault: "expired" | "of another authority" | "for another name",
  caFile: string,
): Promise<Impostor> {
  const authority =
    fault === "of another authority" ? await createCa(Date.now()) : await readAuthority(caFile);
  const names = fault === "for another name" ? ["elsewhere.example"] : ["localhost", "127.0.0.1"];
  const madeAtMs = fault === "expired" ? Date.now() - 400 * DAY_MS : Date.now();
  const { certificate, key } = await createServerCertificate(authority, names, madeAtMs);

  let requests = 0;
  const server = await startBareHttp2({ cert: certificate, key }, (stream) => {
    requests += 1;
    stream.close();
  });
  return { ...server, requests: () => requests };
}

async function readAuthority(caFile: string) {
  const [certificate, key] = await Promise.all([
    readFile(caFile, "utf8"),
    readFile(join(dirname(caFile), "ca.key"), "utf8"),
  ]);
  return { certificate, key };
}
