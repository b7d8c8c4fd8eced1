import "reflect-metadata";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { X509CertificateGenerator } from "@peculiar/x509";
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import type { SharedClient, SharedClients } from "../../../src/contracts/client-certificates.ts";
import { shareClients } from "../../../src/northbound/opcua/certificate-store/shared-clients.ts";
import { silentLog as log } from "../../../src/platform/log.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { createMemoryDisk } from "../../support/memory-tables.ts";

let pem: string;
let thumbprint: string;
beforeAll(async () => {
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" } as const;
  const keys = await crypto.subtle.generateKey(
    { ...algorithm, publicExponent: new Uint8Array([1, 0, 1]), modulusLength: 2_048 },
    true,
    ["sign", "verify"],
  );
  const name = [{ CN: ["line 1"] }];
  const made = await X509CertificateGenerator.createSelfSigned({ name, signingAlgorithm: algorithm, keys });
  pem = made.toString("pem");
  thumbprint = createHash("sha1").update(Buffer.from(made.rawData)).digest("hex");
});

/** The store of the cluster. */
let decisions: Map<string, SharedClient & { readonly revision: number }>;
let isAway = false;
let revision = 0;
const clients: SharedClients = {
  decisions: () => (isAway ? null : decisions),
  async decide(key, client, since) {
    if (isAway || (decisions.get(key)?.revision ?? 0) !== since) return null;
    revision += 1;
    decisions.set(key, { ...client, revision });
    return revision;
  },
};

let folder: string;
/** How often each box has begun to look. */
let looks: Array<() => number>;
const ending = new AbortController();
const clock = createManualClock();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fleetgate-shared-clients-"));
  decisions = new Map();
  isAway = false;
  looks = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const TRUSTED = join("trusted", "certs");
const REJECTED = "rejected";

/** A box with its store, and its disk. */
function openBox(name: string, disk = createMemoryDisk()) {
  const store = join(folder, name);
  for (const place of [TRUSTED, REJECTED]) mkdirSync(join(store, place), { recursive: true });
  let begun = 0;
  const counted: SharedClients = {
    ...clients,
    decisions() {
      begun += 1;
      return clients.decisions();
    },
  };
  looks.push(() => begun);
  shareClients({ folder: store, clients: counted, tables: disk.open(), clock, log }, ending.signal);
  const file = () => `line 1[${thumbprint}].pem`;
  return {
    disk,
    hasTrusted: () => readdirSync(join(store, TRUSTED)).some((each) => each.includes(thumbprint)),
    waits: () => writeFileSync(join(store, REJECTED, file()), pem),
    /** As `fleetgate certs` does it. */
    decide(isTrusted: boolean) {
      const [from, to] = isTrusted ? [REJECTED, TRUSTED] : [TRUSTED, REJECTED];
      const [found = ""] = readdirSync(join(store, from)).filter((each) => each.includes(thumbprint));
      renameSync(join(store, from, found), join(store, to, found));
    },
    rejectedFiles: () => readdirSync(join(store, REJECTED)).length,
  };
}

/** Each box has looked from begin to end, and then once more: it begins a look when it has ended the last. */
async function look(): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    const before = looks.map((begun) => begun());
    const haveLooked = () => looks.every((begun, box) => begun() >= (before[box] ?? 0) + 2);
    await expect
      .poll(
        () => {
          clock.advance(2_000);
          return haveLooked();
        },
        { interval: 5 },
      )
      .toBe(true);
  }
}

it("a client that is trusted on one box is trusted on the other, and no more when it is rejected", async () => {
  const [a, b] = [openBox("a"), openBox("b")];
  a.waits();
  await look();
  expect(decisions.size).toBe(0);
  a.decide(true);
  await look();
  expect([a.hasTrusted(), b.hasTrusted()]).toEqual([true, true]);
  b.decide(false);
  await look();
  expect([a.hasTrusted(), b.hasTrusted()]).toEqual([false, false]);
  expect([a.rejectedFiles(), b.rejectedFiles()]).toEqual([1, 1]);
  expect(decisions.get(thumbprint)).toMatchObject({ isTrusted: false, pem: "" });
});

it("what was decided while the store was away is told later, the last decision", async () => {
  const [a, b] = [openBox("a"), openBox("b")];
  a.waits();
  b.waits();
  isAway = true;
  a.decide(true);
  await look();
  isAway = false;
  await look();
  expect(b.hasTrusted()).toBe(true);
  expect(b.rejectedFiles()).toBe(0);
});

it("a box that comes back takes what was decided without it", async () => {
  const a = openBox("a");
  a.waits();
  a.decide(true);
  await look();
  // Another box has rejected it meanwhile.
  revision += 1;
  decisions.set(thumbprint, { isTrusted: false, pem: "", revision });
  await look();
  expect(a.hasTrusted()).toBe(false);

  const b = openBox("b");
  b.waits();
  b.decide(true);
  await look();
  expect(b.hasTrusted()).toBe(false);
});

it("a file that is not the certificate of its record is not trusted", async () => {
  const a = openBox("a");
  decisions.set("0".repeat(40), { isTrusted: true, pem, revision: 1 });
  await look();
  expect(a.hasTrusted()).toBe(false);
});

it("a file that cannot be read is not taken away, on no box", async () => {
  const [a, b] = [openBox("a"), openBox("b")];
  a.waits();
  a.decide(true);
  await look();
  expect(b.hasTrusted()).toBe(true);
  const [name = ""] = readdirSync(join(folder, "b", TRUSTED));
  // It leads to itself, which is no ENOENT. A look that has begun must find one or the other.
  symlinkSync(name, join(folder, "b", name));
  renameSync(join(folder, "b", name), join(folder, "b", TRUSTED, name));
  await look();
  expect(decisions.get(thumbprint)?.isTrusted).toBe(true);
  expect(a.hasTrusted()).toBe(true);
});

it("a decision that cannot be taken over keeps no other one waiting", async () => {
  const b = openBox("b");
  decisions.set("00", { isTrusted: true, pem: "no certificate", revision: 1 });
  decisions.set(thumbprint, { isTrusted: true, pem, revision: 2 });
  await look();
  expect(b.hasTrusted()).toBe(true);
});
