import { X509Certificate } from "node:crypto";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, createServer } from "node:tls";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadIdentity } from "../../../src/simulator/tls/identity.ts";

const DAY_MS = 86_400_000;
let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "fleetgate-tls-"));
});
afterEach(() => rm(dataDir, { recursive: true }));

const load = (extraNames: readonly string[] = [], nowMs = Date.now()) =>
  loadIdentity({ dataDir, extraNames, nowMs });

test("the certificate is trusted by a client that was given the CA, by name and by address", async () => {
  const identity = await load(["fleet.plant.example"]);
  const server = createServer({ key: identity.key, cert: identity.certificate }, (socket) =>
    socket.end("hello"),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  for (const servername of ["localhost", "fleet.plant.example"]) {
    const authorized = await new Promise<boolean>((resolve, reject) => {
      const socket = connect({ port, host: "127.0.0.1", servername, ca: identity.ca }, () => {
        resolve(socket.authorized);
        socket.destroy();
      });
      socket.once("error", reject);
    });
    expect(authorized, servername).toBe(true);
  }
  const refused = await new Promise<string>((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", servername: "other.example", ca: identity.ca });
    socket.once("error", (error) => resolve(String(error)));
  });
  expect(refused).toMatch(/does not match certificate's altnames/);
  server.close();
  const certificate = new X509Certificate(identity.certificate);
  expect(certificate.checkIP("127.0.0.1")).toBe("127.0.0.1");
  expect(certificate.checkIP("::1")).toBe("::1");
});

test("keys are readable by their owner only", async () => {
  await load();
  for (const name of ["ca.key", "server.key"]) {
    expect((await stat(join(dataDir, name))).mode & 0o777, name).toBe(0o600);
  }
});

test("a second start uses what the first one made", async () => {
  expect(await load()).toEqual(await load());
});

test("a new name, or a month left, gives a new certificate of the same authority", async () => {
  const first = await load();
  const named = await load(["fleet.plant.example"]);
  expect(named.ca).toBe(first.ca);
  expect(named.certificate).not.toBe(first.certificate);
  const later = await load(["fleet.plant.example"], Date.now() + 368 * DAY_MS);
  expect(later.ca).toBe(first.ca);
  expect(later.certificate).not.toBe(named.certificate);
});

test("an authority at its end is replaced, and the server certificate with it", async () => {
  const first = await load();
  const later = await load([], Date.now() + 3_625 * DAY_MS);
  expect(later.ca).not.toBe(first.ca);
  expect(new X509Certificate(later.certificate).verify(new X509Certificate(later.ca).publicKey)).toBe(true);
});

test("a damaged certificate is replaced", async () => {
  await load();
  await writeFile(join(dataDir, "server.pem"), "nothing of the kind");
  expect((await load()).certificate).toContain("BEGIN CERTIFICATE");
});
