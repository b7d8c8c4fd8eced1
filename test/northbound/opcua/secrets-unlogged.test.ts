import { randomBytes } from "node:crypto";
import {
  ActivateSessionRequest,
  CreateSessionRequest,
  CreateSessionResponse,
  IssuedIdentityToken,
  SecurityPolicy,
  UserNameIdentityToken,
} from "node-opcua";
import { make_errorLog } from "node-opcua-debug";
import { afterAll, beforeAll, expect, it } from "vitest";
import { forwardLibraryLog } from "../../../src/northbound/opcua/node-opcua/library-log.ts";
import { createLog, silentLog } from "../../../src/platform/log.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { newClient, type RunningServer, startServer } from "./opcua-harness.ts";
import { encoded, frame, openRawChannel, type RawChannel } from "./raw-client.ts";

const PASSWORD = "0pcua-passw0rd-of-line1";
const password = Buffer.from(PASSWORD);
const lines: string[] = [];
let running: RunningServer;

beforeAll(async () => {
  const log = createLog("debug", { write: (line) => void lines.push(line) });
  running = await startServer(
    {
      users: [
        {
          name: "line1",
          number: null,
          role: "operator",
          secret: { kind: "plain", text: PASSWORD },
        },
      ],
    },
    { log },
  );
});
afterAll(() => running.stop());

interface OpenedSession {
  readonly channel: RawChannel;
  readonly token: CreateSessionResponse["authenticationToken"];
}

async function createSession(): Promise<OpenedSession> {
  const channel = await openRawChannel(running.url);
  const request = new CreateSessionRequest({
    clientDescription: { applicationUri: "urn:test" },
    endpointUrl: running.url,
    sessionName: "raw",
    requestedSessionTimeout: 20_000,
    clientNonce: randomBytes(32),
  });
  const answer = await channel.call(request);
  if (answer === null) throw new Error("no session was created");
  return { channel, token: answer.read(new CreateSessionResponse()).authenticationToken };
}

function activation(
  authenticationToken: OpenedSession["token"],
  userIdentityToken: UserNameIdentityToken | IssuedIdentityToken,
): ActivateSessionRequest {
  return new ActivateSessionRequest({ requestHeader: { authenticationToken }, userIdentityToken });
}

/** What was logged holds it in no spelling that a dump would give it. */
function expectUnlogged(secret: Buffer): void {
  const all = lines.join("\n").replaceAll(/\s/g, "").toLowerCase();
  for (let at = 0; at + 6 <= secret.length; at += 6) {
    const part = secret.subarray(at, at + 6);
    expect(all).not.toContain(part.toString("hex"));
    expect(all).not.toContain(part.toString("latin1").toLowerCase());
  }
  expect(all).not.toContain(secret.toString("base64").toLowerCase().slice(0, 12));
}

async function passwordPolicy(): Promise<string> {
  const client = newClient();
  await client.connect(running.url);
  const endpoints = await client.getEndpoints();
  await client.disconnect();
  const policies = endpoints.flatMap((endpoint) => endpoint.userIdentityTokens ?? []);
  const policy = policies.find(
    ({ securityPolicyUri }) => securityPolicyUri === SecurityPolicy.Basic256Sha256,
  );
  if (typeof policy?.policyId !== "string") throw new Error("no policy takes an encrypted password");
  return policy.policyId;
}

const login = (policyId: string, encryptionAlgorithm: string | null = null) =>
  new UserNameIdentityToken({ policyId, userName: "line1", password, encryptionAlgorithm });
const encryption = "http://www.w3.org/2001/04/xmlenc#rsa-oaep";

it.each([
  ["as it is, for a policy that encrypts it", (policyId: string) => login(policyId)],
  ["under an algorithm that there is none of", (policyId: string) => login(policyId, "urn:none")],
  ["as it is, and called encrypted", (policyId: string) => login(policyId, encryption)],
  ["under a policy that there is none of", () => login("nothing")],
  [
    "as its name",
    (policyId: string) => new UserNameIdentityToken({ policyId, userName: PASSWORD, password }),
  ],
  ["in an issued token", (policyId: string) => new IssuedIdentityToken({ policyId, tokenData: password })],
])("a password that a client sends %s is in no log", async (_what, makeToken) => {
  const policyId = await passwordPolicy();
  const { channel, token } = await createSession();
  const answer = await channel.call(activation(token, makeToken(policyId)));
  expect(answer?.status).not.toBe(0);
  channel.hangUp();
  expectUnlogged(password);
});

it("a password in a request that cannot be read is in no log", async () => {
  const { channel: first, token } = await createSession();
  first.hangUp();
  const whole = encoded(activation(token, login("any")));
  const places = Array.from({ length: Math.ceil(whole.length / 7) }, (_, index) => index * 7);
  for (const at of places) {
    const spoilt = Buffer.from(whole);
    spoilt.fill(0xff, at, Math.min(at + 4, spoilt.length));
    const channel = await openRawChannel(running.url);
    channel.send(channel.message("F", spoilt));
    // The server closes on this, after it has read what came before.
    channel.send(frame("ERRF", Buffer.alloc(8)));
    await channel.closed;
  }
  (await createSession()).channel.hangUp();
  expect(lines.length).toBeGreaterThan(0);
  expectUnlogged(password);
});

it("the token of a session that is used over another connection is in no log", async () => {
  const { channel: first, token } = await createSession();
  const { channel, token: another } = await createSession();
  const answer = await channel.call(activation(token, login("any")));
  expect(answer?.status).not.toBe(0);
  channel.hangUp();
  first.hangUp();
  for (const { value } of [token, another]) expectUnlogged(Buffer.from(value as Buffer));
});

it("says where node-opcua reports an error, and which status it names", async () => {
  const { channel, token } = await createSession();
  await channel.call(activation(token, login(await passwordPolicy())));
  channel.hangUp();
  const said = lines.map((line) => JSON.parse(line) as { library?: string; at?: string });
  expect(said.some(({ library, at }) => library === "node-opcua" && /^\w+:\d+$/.test(at ?? ""))).toBe(true);
});

it("logs the words with which a message of node-opcua begins, and nothing that it quotes", () => {
  const logged: object[] = [];
  const log = { ...silentLog, warn: (fields: object) => void logged.push(fields) };
  forwardLibraryLog(log, createManualClock(), () => false);
  const say = make_errorLog("said");
  say("\u001b[36mServer: closing SESSION \u001b[39m", PASSWORD);
  expect(logged).toEqual([expect.objectContaining({ said: "Server: closing SESSION" })]);
  expect(JSON.stringify(logged)).not.toContain(PASSWORD);
});
