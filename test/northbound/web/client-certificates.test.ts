import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { CertificateChange } from "../../../src/contracts/client-certificates.ts";
import { createClientList } from "../../../src/northbound/opcua/certificate-store/client-list.ts";
import { type Certificates, certificate, certificates } from "../../../src/northbound/web/api/gateway.ts";
import type { WebAccess, WebUser } from "../../../src/northbound/web/options.ts";
import { digestOf } from "../../../src/platform/password.ts";
import { type ClientCertificate, clientCertificate } from "../../cli/certs/certs-harness.ts";
import { createWebHarness, openAccess, type WebHarness } from "./web-harness.ts";

const eva: WebUser = { name: "eva", role: "engineer", robots: null, password: "secret" };
const withUsers = (...users: readonly WebUser[]): WebAccess => ({ ...openAccess, users });

let folder: string;
let scada: ClientCertificate;
let harness: WebHarness;
let told: CertificateChange[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fleetgate-web-certs-"));
  for (const name of ["rejected", "trusted/certs"])
    await mkdir(join(folder, "server", name), { recursive: true });
  scada = await clientCertificate("scada");
  await writeFile(join(folder, `server/rejected/scada[${scada.thumbprint}].pem`), scada.pem);
  told = [];
  harness = await createWebHarness((clock) => ({
    clientCertificates: createClientList(() => folder, clock),
    certificate: (change) => void told.push(change),
  }));
});
afterEach(async () => {
  await harness[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

type Headers = Readonly<Record<string, string>>;

async function ask(method: string, path: string, headers: Headers = {}, body: object | null = null) {
  const content =
    body === null
      ? { headers }
      : { headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(`${harness.url}/api/v1/${path}`, { method, ...content });
  return { status: response.status, headers: response.headers, body: (await response.json()) as unknown };
}

async function logIn(user: string, password = "secret"): Promise<Headers> {
  const { headers, status } = await ask("POST", "session", {}, { user, password });
  expect(status).toBe(200);
  return { cookie: headers.getSetCookie()[0]?.split(";")[0] ?? "" };
}

const list = async (headers: Headers = {}): Promise<Certificates> =>
  certificates.parse((await ask("GET", "certificates", headers)).body);
const decide = (headers: Headers, body: object, thumbprint = scada.thumbprint) =>
  ask("PUT", `certificates/${thumbprint}`, headers, body);
const approval = { trusted: true, password: "secret" };
const filesIn = (name: string) => readdir(join(folder, "server", name));

it("an engineer that gives the password again lets a client in, and keeps it out", async () => {
  harness.access = withUsers(eva);
  const session = await logIn("eva");
  expect(await list(session)).toMatchObject({
    count: 1,
    why_not: "",
    certificates: [{ thumbprint: scada.thumbprint, state: "waiting", subject: "CN=scada", warnings: [] }],
  });
  const approved = await decide(session, approval);
  expect([approved.status, certificate.parse(approved.body).state]).toEqual([200, "trusted"]);
  expect([await filesIn("rejected"), await filesIn("trusted/certs")]).toEqual([
    [],
    [`scada[${scada.thumbprint}].pem`],
  ]);
  // The same again changes nothing.
  expect((await decide(session, approval)).status).toBe(200);
  expect((await decide(session, { ...approval, trusted: false })).status).toBe(200);
  expect(await filesIn("trusted/certs")).toEqual([]);
  const change = {
    source: { protocol: "web", name: "eva" },
    address: "127.0.0.1",
    thumbprint: scada.thumbprint,
    subject: "CN=scada",
  };
  expect(told).toEqual([
    { ...change, isTrusted: true },
    { ...change, isTrusted: false },
  ]);
});

it.each([
  ["a wrong password", { ...approval, password: "guess" }, 403],
  ["no password", { trusted: true }, 400],
  ["an empty password", { ...approval, password: "" }, 400],
  ["another field", { ...approval, force: true }, 400],
])("nothing moves for %s", async (_what, body, status) => {
  harness.access = withUsers(eva);
  const session = await logIn("eva");
  expect((await decide(session, body)).status).toBe(status);
  expect(await filesIn("trusted/certs")).toEqual([]);
  expect(told).toEqual([]);
  // The session is as good as before.
  expect((await ask("GET", "session", session)).status).toBe(200);
});

it("wrong passwords delay the next attempt as those of log-ins do, and the two count together", async () => {
  harness.access = withUsers(eva);
  const session = await logIn("eva");
  const guess = { ...approval, password: "guess" };
  for (const waitMs of [500, 1_000, 2_000, 4_000]) {
    expect((await decide(session, guess)).status).toBe(403);
    harness.clock.advance(waitMs);
  }
  expect((await ask("POST", "session", {}, { user: "eva", password: "guess" })).status).toBe(401);
  const failedAtMs = harness.clock.monotonicMs();
  let status: number | null = null;
  void decide(session, approval).then((answer) => {
    status = answer.status;
  });
  for (; status === null; await new Promise(setImmediate)) harness.clock.advance(10);
  expect(status).toBe(200);
  expect(harness.clock.monotonicMs() - failedAtMs).toBeGreaterThanOrEqual(4_000);
});

it.each<[string, WebUser]>([
  ["an operator", { ...eva, role: "operator" }],
  ["an engineer for some robots", { ...eva, robots: ["r1"] }],
])("%s decides on none, and is told why", async (_who, user) => {
  harness.access = withUsers(user);
  const session = await logIn("eva");
  expect(await decide(session, approval)).toMatchObject({
    status: 403,
    body: { detail: expect.stringContaining("engineers for all robots") },
  });
  expect((await list(session)).why_not).toContain("engineers for all robots");
  expect(await filesIn("trusted/certs")).toEqual([]);
});

it("a token has no password to give again", async () => {
  const digest = digestOf("t0ken").toString("hex");
  harness.access = { ...openAccess, tokens: [{ name: "script", role: "engineer", robots: null, digest }] };
  expect(await decide({ authorization: "Bearer t0ken" }, approval)).toMatchObject({
    status: 403,
    body: { detail: expect.stringContaining("token has no password") },
  });
});

it("without users it is not offered, and the list says why", async () => {
  expect(await decide({}, approval)).toMatchObject({
    status: 403,
    body: { detail: expect.stringContaining("fleetgate certs") },
  });
  expect(await list()).toMatchObject({ count: 1, why_not: expect.stringContaining("nobody logs in here") });
  expect(await filesIn("trusted/certs")).toEqual([]);
});

it("only a whole thumbprint of a client's certificate names one, and no part of a path", async () => {
  harness.access = withUsers(eva);
  const session = await logIn("eva");
  for (const wanted of [scada.thumbprint.slice(0, 8), "0".repeat(40), "..%2F..%2Fown"])
    expect([wanted, (await decide(session, approval, wanted)).status]).toEqual([wanted, 404]);
});

it("an authority of the configuration stays trusted", async () => {
  await rm(join(folder, `server/rejected/scada[${scada.thumbprint}].pem`));
  await writeFile(join(folder, "server/trusted/certs/configured-1.pem"), scada.pem);
  harness.access = withUsers(eva);
  const session = await logIn("eva");
  expect((await list(session)).certificates).toMatchObject([{ state: "trusted", configured: true }]);
  expect(await decide(session, { ...approval, trusted: false })).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining("opcua.trustedCas") },
  });
  expect(await filesIn("trusted/certs")).toEqual(["configured-1.pem"]);
});
