import { once } from "node:events";
import { connect as connectPlain } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { WebOptions, WebUser } from "../../../src/northbound/web/options.ts";
import { createWebServer, type WebServer } from "../../../src/northbound/web/server.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { createLive } from "../../../src/platform/live.ts";
import type { ListenerPair } from "../../../src/platform/tls-files.ts";
import { createCa, createServerCertificate } from "../../../src/simulator/tls/identity.ts";
import { https } from "../../support/https.ts";
import { start } from "./control-harness.ts";
import { openAccess, webParts } from "./web-harness.ts";

const anna: WebUser = { name: "anna", role: "operator", robots: null, password: "anna's password" };
const authority = await createCa(Date.now());
const [first, second] = await Promise.all(
  ["first", "second"].map((name) => createServerCertificate(authority, ["127.0.0.1", name], Date.now())),
);
const ca = Buffer.from(authority.certificate);
const textsOf = (made: typeof first) => ({ key: made?.key ?? "", cert: made?.certificate ?? "" });

const tls = createLive<ListenerPair | null>(null);
let server: WebServer;
let stop: () => Promise<void>;

beforeEach(async () => {
  tls.replace(textsOf(first));
  const options: Omit<WebOptions, "floor"> = {
    listen: { host: "127.0.0.1", port: 0 },
    hostnames: [],
    access: createLive({ ...openAccess, users: [anna] }),
    tls,
  };
  server = createWebServer(options, webParts(systemClock).parts);
  stop = await start(server);
});
afterEach(() => stop());

const port = () => Number(new URL(server.url() ?? "").port);

async function secured(): Promise<TLSSocket> {
  const socket = connect({ host: "127.0.0.1", port: port(), ca });
  await once(socket, "secureConnect");
  return socket;
}

it("takes a log-in over TLS, with a cookie that no other host and no plain connection can set", async () => {
  expect(server.url()).toMatch(/^https:/);
  const url = `${server.url()}/api/v1/session`;
  const body = { user: "anna", password: "anna's password" };
  const answer = await https({ url, ca, method: "POST", body });
  expect(answer.status).toBe(200);
  const [cookie = ""] = [answer.headers["set-cookie"] ?? ""].flat();
  expect(cookie).toMatch(
    /^__Host-fleetgate_session_[0-9a-f]+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
  );
  const headers = { cookie: cookie.split(";", 1)[0] ?? "" };
  const robots = await https({ url: `${server.url()}/api/v1/robots`, ca, headers });
  expect(robots.status).toBe(200);
});

it("answers nothing to a connection without TLS", async () => {
  const plain = connectPlain(port(), "127.0.0.1");
  plain.on("error", () => {});
  plain.write("GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n");
  let got = "";
  plain.on("data", (bytes) => {
    got += String(bytes);
  });
  await new Promise((resolve) => plain.once("close", resolve));
  expect(got).not.toContain("alive");
});

it("a client whose handshake ends after the stop does not hold the stop up", async () => {
  const socket = connectPlain(port(), "127.0.0.1").on("error", () => {});
  await expect.poll(() => server.health().figures?.connections).toBe(1);
  const stopped = stop();
  connect({ socket, ca, servername: "first" }).on("error", () => {});
  await stopped;
  // Shorter than the time that a connection at rest may have.
}, 8_000);

it("shows a new certificate to new connections, and keeps those that are open", async () => {
  const before = await secured();
  tls.replace(textsOf(second));
  const after = await secured();
  expect(before.getPeerCertificate().subjectaltname).toContain("first");
  expect(after.getPeerCertificate().subjectaltname).toContain("second");
  before.write("GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n");
  const [answer] = await once(before, "data");
  expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
  for (const socket of [before, after]) socket.destroy();
});

it("counts a connection once, before its handshake and after", async () => {
  const sockets = await Promise.all([secured(), secured()]);
  for (const socket of sockets) {
    socket.write("GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n");
    await once(socket, "data");
  }
  expect(server.health().figures).toMatchObject({ connections: 2, connectionsClosed: 0 });
  for (const socket of sockets) socket.destroy();
});
