import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WebhookOptions } from "../../src/fleet/options.ts";
import { createCa, createServerCertificate } from "../../src/simulator/tls/identity.ts";
import { freePorts } from "../support/free-ports.ts";

/** Where a gateway takes webhooks on loopback, and whom the service must trust to deliver there. */
export interface WebhookEntrance {
  readonly options: WebhookOptions;
  readonly trustedCa: string;
  close(): Promise<void>;
}

export async function openWebhookEntrance(): Promise<WebhookEntrance> {
  const directory = await mkdtemp(join(tmpdir(), "fleetgate-hooks-"));
  const authority = await createCa(Date.now());
  const { certificate, key } = await createServerCertificate(authority, ["localhost"], Date.now());
  const port = await freePorts(1);
  return {
    options: {
      listen: { host: "127.0.0.1", port },
      publicUrl: `https://localhost:${port}/hook`,
      tls: { cert: certificate, key },
      onShutdown: "keep",
      directory,
    },
    trustedCa: authority.certificate,
    close: () => rm(directory, { recursive: true, force: true }),
  };
}
