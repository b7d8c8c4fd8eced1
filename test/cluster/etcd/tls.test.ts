import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { KeyedCertificate } from "../../../src/platform/certificate-authority.ts";
import { createCa, createServerCertificate } from "../../../src/simulator/tls/identity.ts";
import { createClientCertificate } from "../../support/client-certificate.ts";
import { bytes, done, hasEtcd, startEtcd, type TestEtcd } from "../etcd-harness.ts";

let folder: string;
let etcd: TestEtcd;
let ca: KeyedCertificate;
let client: KeyedCertificate;

beforeAll(async () => {
  if (!hasEtcd) return;
  folder = mkdtempSync(join(tmpdir(), "fleetgate-etcd-tls-"));
  ca = await createCa(Date.now());
  client = await createClientCertificate();
  const server = await createServerCertificate(ca, ["127.0.0.1"], Date.now());
  const file = (name: string, content: string) => {
    writeFileSync(join(folder, name), content, { mode: 0o600 });
    return join(folder, name);
  };
  etcd = await startEtcd({
    scheme: "https",
    options: [
      ...[
        "--cert-file",
        file("server.crt", server.certificate),
        "--key-file",
        file("server.key", server.key),
      ],
      ...["--client-cert-auth", "--trusted-ca-file", file("clients.crt", client.certificate)],
    ],
  });
});
afterAll(async () => {
  await etcd?.close();
  if (hasEtcd) rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(!hasEtcd)("TLS", () => {
  const refused = (pattern: RegExp) => ({
    kind: "failed",
    fault: { code: "NO_CONNECTION", message: expect.stringMatching(pattern) },
  });

  it("is mutual", async () => {
    const own = etcd.client({ tls: { ca: ca.certificate, client } });
    done(await own.put("tls", bytes("x")));
    expect(done(await own.range({ keys: { key: "tls" } })).value.entries.length).toBe(1);
  });

  it("lets nobody in without a certificate, or with one that etcd does not trust", async () => {
    const without = etcd.client({ tls: { ca: ca.certificate, client: null } });
    expect(await without.put("tls", bytes("y"))).toMatchObject(refused(/look at the certificates/));
    const other = etcd.client({ tls: { ca: ca.certificate, client: await createClientCertificate() } });
    expect(await other.put("tls", bytes("y"))).toMatchObject(refused(/look at the certificates/));
  });

  it("trusts no server of another CA", async () => {
    const { certificate } = await createCa(Date.now());
    const own = etcd.client({ tls: { ca: certificate, client } });
    expect(await own.put("tls", bytes("y"))).toMatchObject(refused(/certificate/));
  });

  it("is not left out", async () => {
    expect((await etcd.client({ deadlineMs: 1_000 }).put("tls", bytes("y"))).kind).toBe("failed");
  });
});
