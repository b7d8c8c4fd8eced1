import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, createServer } from "node:tls";
import { expect, it } from "vitest";
import { connectFaultOf } from "../../src/platform/connect-fault.ts";
import { acceptedPair, PairRefused, tlsProblem } from "../../src/platform/tls-files.ts";
import { tryTls } from "../../src/platform/tls-trial.ts";
import { createCa, createServerCertificate } from "../../src/simulator/tls/identity.ts";
import { oldCertificate, weakCertificate } from "../support/weak-certificate.ts";

const peer = {
  key: "fleet.https",
  host: "127.0.0.1",
  port: 443,
  caKey: "fleet.ca",
  certificateKey: "fleet.client.certificate",
};

it("says why TLS does not take a certificate", async () => {
  const weak = await weakCertificate();
  expect(tlsProblem(weak)).toMatch(
    /^has a key that is too short for TLS: it needs RSA with 2048 bits or more/,
  );
  await expect(acceptedPair(weak)).rejects.toThrow(/^its certificate has a key that is too short/);
  const authority = await createCa(Date.now());
  const made = await createServerCertificate(authority, ["127.0.0.1"], Date.now());
  const good = { cert: made.certificate, key: made.key };
  expect(await acceptedPair(good)).toEqual(good);
});

it("reads the files of a certificate that TLS does not take, and says what is wrong with them now", async () => {
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-pair-"));
  try {
    const paths = { cert: join(folder, "web.pem"), key: join(folder, "web.key") };
    const authority = await createCa(Date.now());
    // Of 1970: clients refuse it, and TLS itself does not.
    const [own, other] = await Promise.all([0, 1].map(() => createServerCertificate(authority, ["a"], 0)));
    const weak = await weakCertificate();
    const problemWith = async (cert: string, key: string) => {
      await writeFile(paths.cert, cert);
      await writeFile(paths.key, key);
      const found: unknown = await acceptedPair({ ...weak, paths }).catch((error: unknown) => error);
      return found instanceof PairRefused ? found.message : found;
    };
    const [cert = "", key = ""] = [own?.certificate, own?.key];
    expect(await problemWith(weak.cert, weak.key)).toMatch(
      /web\.pem has a key that is too short for TLS: it needs RSA with 2048 bits/,
    );
    expect(await problemWith(cert.slice(0, 100), key)).toMatch(
      /web\.pem holds a certificate that cannot be read/,
    );
    expect(await problemWith(cert, other?.key ?? "")).toMatch(/web\.key is not the key of .*web\.pem$/);
    expect(await problemWith(cert, key)).toEqual({ cert, key });
    await rm(paths.key);
    await expect(acceptedPair({ ...weak, paths })).rejects.toThrow(/web\.key/);
  } finally {
    await rm(folder, { recursive: true });
  }
});

it.each([
  [1_024, "SHA-256", /^has a key that is too short for TLS/],
  [2_048, "SHA-1", /^has a signature that is too weak for TLS/],
  [2_048, "SHA-256", null],
] as const)("is right about RSA-%i with %s on this version of OpenSSL", async (bits, hash, words) => {
  const pair = await oldCertificate(bits, hash);
  const problem = tlsProblem(pair);
  // The versions of Node.js differ in what they take: what is said must be what a handshake shows.
  if (problem !== null) expect(problem).toMatch(words ?? /nothing is wrong with it/);
  const server = createServer(problem === null ? pair : {}).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  // The client takes everything: only the listener decides.
  const client = connect({ port, rejectUnauthorized: false, ciphers: "DEFAULT@SECLEVEL=0" });
  const ended = await once(client, "secureConnect").then(
    () => "taken",
    () => "refused",
  );
  client.destroy();
  server.close();
  expect(ended).toBe(problem === null ? "taken" : "refused");
});

it("says of a server that its certificate is too weak, in words", async () => {
  const { cert, key } = await weakCertificate();
  const server = createServer({ cert, key, ciphers: "DEFAULT@SECLEVEL=0" }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const options = {
    host: "127.0.0.1",
    port,
    ca: cert,
    client: null,
    protocols: [],
    tunnel: null,
    asksDate: false,
  };
  try {
    const { distrust } = await tryTls(options, 5_000, new AbortController().signal);
    const { what, advice } = connectFaultOf(distrust, peer, 0);
    expect(what).toMatch(/the server's certificate, or that of its CA, is too weak: .*key too weak/);
    expect(advice).toContain("RSA with 2048 bits or more");
  } finally {
    server.close();
  }
});

it("says of our own certificate that it is too weak, and by which key", async () => {
  const { cert, key } = await weakCertificate();
  const client = { certificate: cert, key };
  const options = {
    host: "127.0.0.1",
    port: 9,
    ca: null,
    client,
    protocols: [],
    tunnel: null,
    asksDate: false,
  };
  const error = await tryTls(options, 5_000, new AbortController().signal).catch((thrown: unknown) => thrown);
  const { what, advice } = connectFaultOf(error, peer, 0);
  expect(what).toContain("TLS does not take the gateway's own certificate");
  expect(advice).toContain("fleet.client.certificate");
});

it.each([
  ["ERR_SSL_UNSUPPORTED_PROTOCOL", "speaks TLS 1.1 or older only"],
  ["ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION", "speaks TLS 1.1 or older only"],
  ["ERR_SSL_DH_KEY_TOO_SMALL", "Diffie-Hellman key is too short"],
])("knows %s", (code, what) => {
  expect(connectFaultOf(Object.assign(new Error("raw"), { code }), peer, 0).what).toContain(what);
});
