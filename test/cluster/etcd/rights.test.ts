import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EtcdClient } from "../../../src/cluster/etcd/client.ts";
import { keyPrefix } from "../../../src/cluster/options.ts";
import { createCa, createServerCertificate } from "../../../src/simulator/tls/identity.ts";
import { createClientCertificate } from "../../support/client-certificate.ts";
import { bytes, done, hasEtcd, hasEtcdctl, startEtcd, type TestEtcd } from "../etcd-harness.ts";

const canRun = hasEtcd && hasEtcdctl;
const prefix = keyPrefix("hall-1");
let folder: string;
let etcd: TestEtcd;
let client: EtcdClient;

/** As docs/cluster.md gives a gateway its rights. The common name of its certificate is `gateway`. */
beforeAll(async () => {
  if (!canRun) return;
  folder = mkdtempSync(join(tmpdir(), "fleetgate-etcd-rights-"));
  const [ca, own] = await Promise.all([createCa(Date.now()), createClientCertificate()]);
  const server = await createServerCertificate(ca, ["127.0.0.1"], Date.now());
  const file = (name: string, content: string) => {
    writeFileSync(join(folder, name), content, { mode: 0o600 });
    return join(folder, name);
  };
  const files = {
    ca: file("ca.pem", ca.certificate),
    cert: file("own.pem", own.certificate),
    key: file("own.key", own.key),
  };
  etcd = await startEtcd({
    scheme: "https",
    options: [
      ...[
        "--cert-file",
        file("server.pem", server.certificate),
        "--key-file",
        file("server.key", server.key),
      ],
      ...["--client-cert-auth", "--trusted-ca-file", files.cert],
    ],
  });
  for (const line of [
    "user add root --no-password",
    "user grant-role root root",
    "role add hall-1",
    `role grant-permission hall-1 --prefix=true readwrite ${prefix}`,
    "user add gateway --no-password",
    "user grant-role gateway hall-1",
    "auth enable",
  ]) {
    const tls = ["--cacert", files.ca, "--cert", files.cert, "--key", files.key];
    const ran = spawnSync("etcdctl", [
      "--endpoints",
      `https://${etcd.endpoints[0]}`,
      ...tls,
      ...line.split(" "),
    ]);
    expect(ran.status, String(ran.stderr)).toBe(0);
  }
  client = etcd.client({ tls: { ca: ca.certificate, client: own } });
});
afterAll(async () => {
  await etcd?.close();
  if (canRun) rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(!canRun)("a role for the prefix of the cluster", () => {
  it("is enough for every call of a gateway", async () => {
    const heard: string[] = [];
    const { revision } = done(await client.range({ keys: { prefix } })).header;
    const close = client.watch(
      { prefix, fromRevision: revision + 1n },
      { onEvents: (events) => void heard.push(...events.map(({ kind }) => kind)), onEnded: () => {} },
    );
    const { id } = done(await client.grantLease(5)).value;
    done(await client.put(`${prefix}leader`, bytes("a"), id));
    const nested = { kind: "put", key: `${prefix}record`, value: bytes("b") } as const;
    const inner = {
      compare: [{ key: nested.key, target: "mod_revision", is: "equal", to: 0n }],
      success: [nested],
    } as const;
    done(
      await client.txn({
        compare: [{ key: `${prefix}leader`, target: "create_revision", is: "greater", to: 0n }],
        success: [{ kind: "transaction", transaction: inner }],
      }),
    );
    expect(done(await client.keepLeaseAlive(id)).value.ttlS).toBeGreaterThan(0);
    expect(done(await client.leaseTimeToLive(id)).value).toBeGreaterThan(0);
    done(await client.revokeLease(id));
    done(await client.txn({ success: [{ kind: "delete", keys: { prefix } }] }));
    await expect.poll(() => heard).toEqual(["put", "put", "delete", "delete"]);
    close();
    done(await client.compact(done(await client.range({ keys: { prefix } })).header.revision));
    done(await client.status(etcd.endpoints[0] ?? ""));
    done(await client.alarms());
    done(await client.members());
  });

  it("is for no other key", async () => {
    for (const key of ["/fleetgate/hall-2/leader", "/fleetgate/hall-1", "leader"])
      expect(await client.put(key, bytes("x"))).toMatchObject({
        kind: "failed",
        fault: { code: "PERMISSION_DENIED" },
      });
    expect((await client.range({ keys: { prefix: "/fleetgate/" } })).kind).toBe("failed");
  });
});
