// The x509 library wants this polyfill before it is loaded.
import "reflect-metadata";
import { createHash, webcrypto } from "node:crypto";
import { readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { PemConverter, X509CertificateGenerator } from "@peculiar/x509";
import { StatusCodes, UserTokenType } from "node-opcua";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { RefusalAudit } from "../../../src/contracts/commander.ts";
import type { OpcUaUser } from "../../../src/northbound/opcua/options.ts";
import { revokedUsers } from "../../../src/northbound/opcua/security.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { newClient, opcUaOptions, openSession, type RunningServer, startServer } from "./opcua-harness.ts";
import { algorithm } from "./plant-authority.ts";

const DAY_MS = 86_400_000;
const clock = createManualClock(Date.now());
const robots = [{ robotId: "r1", alias: null, number: null, family: "cart", conveyorIndexes: [] }] as const;
const SLOT = "Robots.r1.MissionSlot.RequestId";

interface UserCertificate {
  readonly type: UserTokenType.Certificate;
  readonly certificateData: Buffer;
  readonly privateKey: string;
}

async function userCertificate(name: string, days = 10): Promise<UserCertificate> {
  const keys = await webcrypto.subtle.generateKey(algorithm(2_048), true, ["sign", "verify"]);
  const made = await X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [name] }],
    notBefore: new Date(Date.now() - 20 * DAY_MS),
    notAfter: new Date(Date.now() + days * DAY_MS),
    signingAlgorithm: algorithm(2_048),
    keys,
  });
  const key = await webcrypto.subtle.exportKey("pkcs8", keys.privateKey);
  return {
    type: UserTokenType.Certificate,
    certificateData: Buffer.from(made.rawData),
    privateKey: PemConverter.encode(key, "PRIVATE KEY"),
  };
}

const thumbprint = ({ certificateData }: UserCertificate, name = "sha1") =>
  createHash(name).update(certificateData).digest("hex");

const user = (name: string, changed: Partial<OpcUaUser>): OpcUaUser => ({
  name,
  role: "observer",
  number: null,
  secret: { kind: "none" },
  ...changed,
});

let running: RunningServer;
let certificates: Record<"line" | "reader" | "stranger" | "old" | "lent", UserCertificate>;
const told: string[] = [];
const audit: RefusalAudit = {
  refused: ({ source, operation, origin }, { code, message }) =>
    void told.push(`${operation} ${source.name} ${origin?.address !== undefined} ${code}: ${message}`),
};

beforeAll(async () => {
  const [line, reader, stranger, old, lent] = await Promise.all([
    // Each common name is that of another user.
    userCertificate("admin"),
    userCertificate("admin"),
    userCertificate("admin"),
    userCertificate("line", -1),
    userCertificate("reader"),
  ]);
  certificates = { line, reader, stranger, old, lent };
  running = await startServer(
    {
      robots,
      users: [
        user("admin", { role: "engineer", secret: { kind: "plain", text: "admin secret" } }),
        user("line", { role: "operator", certificate: thumbprint(line, "sha256") }),
        user("reader", { certificate: thumbprint(reader) }),
        user("retired", { certificate: thumbprint(old) }),
      ],
    },
    { clock, audit },
  );
  // The client program itself is approved first.
  await expect(openSession(running.url, { secure: true })).rejects.toThrow();
  const store = join(opcUaOptions().dataDir, "opcua/server");
  for (const name of await readdir(join(store, "rejected")))
    await rename(join(store, "rejected", name), join(store, "trusted/certs", name));
});
afterAll(() => running.stop());
beforeEach(() => {
  told.length = 0;
  clock.advance(1_000_000);
});

async function logOn(identity: UserCertificate) {
  const client = newClient(true);
  await client.connect(running.url);
  try {
    const session = await client.createSession(identity);
    const nodeId = `ns=2;s=${SLOT}`;
    const value = { value: { dataType: "Int32", value: 0 } };
    const status = await session.write({ nodeId, attributeId: 13, value });
    await session.close();
    return status;
  } finally {
    await client.disconnect();
  }
}

describe("a session with a user certificate", () => {
  it("is the user with that thumbprint, SHA-1 or SHA-256, whatever the common name is", async () => {
    expect(await logOn(certificates.line)).toBe(StatusCodes.Good);
    // Its common name is that of an engineer.
    expect(await logOn(certificates.reader)).toBe(StatusCodes.BadUserAccessDenied);
    expect(told.filter((line) => line.startsWith("log_on"))).toEqual([]);
  });

  it.each([
    [
      "the name of a user, and nothing else",
      "stranger",
      /^log_on certificate [0-9a-f]{40} true NOT_ALLOWED: no user has/,
    ],
    ["expired", "old", /^log_on retired true NOT_ALLOWED: its certificate has expired/],
    [
      "taken out of the configuration",
      "lent",
      /^log_on certificate [0-9a-f]{40} true NOT_ALLOWED: no user has/,
    ],
  ] as const)("is refused and audited: %s", async (_what, name, line) => {
    await expect(logOn(certificates[name])).rejects.toThrow(/BadIdentityTokenRejected/);
    expect(told).toEqual([expect.stringMatching(line)]);
  });

  it("is refused without the certificate's key", async () => {
    const stolen = { ...certificates.line, privateKey: certificates.stranger.privateKey };
    await expect(logOn(stolen)).rejects.toThrow(/BadUserSignatureInvalid/);
    expect(told).toEqual([expect.stringContaining("log_on line true NOT_ALLOWED: it did not prove")]);
  });

  it("does not open the user's name to passwords, not even to an empty one", async () => {
    for (const password of ["", thumbprint(certificates.line, "sha256")]) {
      clock.advance(1_000_000);
      const attempt = openSession(running.url, { secure: true, user: { name: "line", password } });
      await expect(attempt).rejects.toThrow(/BadUserAccessDenied/);
    }
  });
});

/** Lets time pass until something has settled. */
async function passUntil(something: Promise<unknown>): Promise<void> {
  let isSettled = false;
  const settled = () => {
    isSettled = true;
  };
  something.then(settled, settled);
  const look = () => {
    clock.advance(100);
    return isSettled;
  };
  await expect.poll(look, { timeout: 20_000 }).toBe(true);
}

describe("failed log-ons", () => {
  const right = { secure: true, user: { name: "admin", password: "admin secret" } };
  const wrong = { secure: true, user: { name: "admin", password: "guess" } };

  it("are audited, and delay the next one of that user; it is looked at afterwards", async () => {
    for (let count = 1; count <= 5; count += 1) {
      await expect(openSession(running.url, wrong)).rejects.toThrow(/BadUserAccessDenied/);
      expect(told.at(-1)).toMatch(new RegExp(`^log_on admin true NOT_ALLOWED: .* in a row: ${count}$`));
      clock.advance(30_000);
    }
    await expect(openSession(running.url, wrong)).rejects.toThrow(/BadUserAccessDenied/);
    // Four seconds: a wrong password is looked at then, and so is the right one that came with it.
    const both = [openSession(running.url, wrong), openSession(running.url, right)];
    const results = Promise.allSettled(both);
    await passUntil(results);
    const [guessed, callers] = await results;
    expect(guessed).toMatchObject({ status: "rejected" });
    if (callers?.status !== "fulfilled") throw new Error("the right password was refused");
    await callers.value.close();
    expect(told).toHaveLength(7);
    expect(told.at(-1)).toMatch(/in a row: [17]$/);
    expect(await logOn(certificates.line)).toBe(StatusCodes.Good);
  });

  it("under invented names are bounded in the audit, and hide none under the name of a user", async () => {
    clock.advance(60_000);
    told.length = 0;
    for (let number = 0; number < 12; number += 1) {
      const user = { name: `invented-${number}`, password: "guess" };
      await expect(openSession(running.url, { secure: true, user })).rejects.toThrow(/BadUserAccessDenied/);
    }
    await expect(openSession(running.url, wrong)).rejects.toThrow(/BadUserAccessDenied/);
    expect(told).toHaveLength(11);
    expect(told.at(-1)).toMatch(/^log_on admin /);
    clock.advance(60_000);
    expect(told.slice(11)).toEqual(["log_on  false NOT_ALLOWED: 2 more log-ons have failed within a minute"]);
  });

  it("a right log-on after a mistyped one waits for its moment, and gets in", async () => {
    await expect(openSession(running.url, wrong)).rejects.toThrow(/BadUserAccessDenied/);
    const waiting = openSession(running.url, right);
    await passUntil(waiting);
    await (await waiting).close();
  });
});

it("a reload ends the sessions of a user whose certificate is another or gone, and of nobody else", () => {
  const [a, b] = ["a".repeat(40), "b".repeat(40)];
  const password = { kind: "plain", text: "secret" } as const;
  const before = [
    user("same", { certificate: a }),
    user("other", { certificate: a }),
    user("gone", { certificate: a, secret: password }),
    user("more", { secret: password }),
  ];
  const now = [
    user("same", { certificate: a }),
    user("other", { certificate: b }),
    user("gone", { secret: password }),
    user("more", { certificate: b, secret: password }),
  ];
  expect([...revokedUsers(before, now)]).toEqual(["other", "gone"]);
});
