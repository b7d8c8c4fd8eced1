import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { IDLE_MS } from "../../../../src/northbound/web/access/sessions.ts";
import type { WebToken, WebUser } from "../../../../src/northbound/web/options.ts";
import { digestOf, hashPassword } from "../../../../src/platform/password.ts";
import { type AccessHarness, cookieOf, createAccessHarness } from "./access-harness.ts";

const anna: WebUser = { name: "anna", role: "operator", robots: ["cart-1"], password: "anna's password" };
const ben: WebUser = {
  name: "ben",
  role: "observer",
  robots: null,
  password: await hashPassword("ben's password"),
};
const secret = "fgt_token-of-prometheus";
const prometheus: WebToken = {
  name: "prometheus",
  role: "observer",
  robots: null,
  digest: digestOf(secret).toString("hex"),
};
const bearer = { authorization: `Bearer ${secret}` };
const start = (gatewayId?: string) =>
  createAccessHarness({ users: [anna, ben], tokens: [prometheus] }, gatewayId);

async function loggedIn(harness: AccessHarness): Promise<{ readonly cookie: string }> {
  const answer = await harness.logIn("anna", "anna's password");
  expect(answer.status).toBe(200);
  return { cookie: cookieOf(answer) };
}

it("lets everybody in without users and tokens, and says so", async () => {
  await using harness = await createAccessHarness({});
  expect(await harness.ask("GET", "/api/v1/thing")).toMatchObject({
    status: 200,
    body: { name: "open", robots: null },
  });
  expect(await harness.ask("GET", "/api/v1/session")).toMatchObject({ status: 200, body: { open: true } });
  expect(await harness.logIn("anna", "x")).toMatchObject({ status: 409 });
});

it("refuses a request without a credential, and every route that is not public", async () => {
  await using harness = await start();
  for (const path of ["/api/v1/thing", "/metrics", "/api/v1/session", "/%61pi/v1/thing"]) {
    const answer = await harness.ask("GET", path);
    expect(answer, path).toMatchObject({ status: 401, body: { title: "Unauthorized" } });
    expect(answer.headers["www-authenticate"]).toBe('Bearer realm="fleetgate"');
  }
  expect(await harness.ask("GET", "/nothing")).toMatchObject({ status: 404 });
});

it("logs in by user and password, kept as it is or as a hash, and shows who asks", async () => {
  await using harness = await start();
  const answer = await harness.logIn("anna", "anna's password");
  expect(answer).toMatchObject({
    status: 200,
    body: { open: false, name: "anna", role: "operator", robots: ["cart-1"] },
  });
  expect(answer.headers["set-cookie"]).toEqual([
    expect.stringMatching(/^fleetgate_session_706c616e7431=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/),
  ]);
  expect(await harness.ask("GET", "/api/v1/thing", { cookie: cookieOf(answer) })).toMatchObject({
    status: 200,
    body: { name: "anna", role: "operator", robots: ["cart-1"] },
  });
  expect(JSON.stringify(answer.body)).not.toContain("password");
  expect(await harness.logIn("ben", "ben's password")).toMatchObject({ status: 200, body: { name: "ben" } });
  expect(harness.told).toEqual([
    expect.objectContaining({ kind: "session", change: "log_on", address: "127.0.0.1" }),
    expect.objectContaining({ kind: "session", source: { protocol: "web", name: "ben" } }),
  ]);
});

it("logs out, and takes the cookie away", async () => {
  await using harness = await start();
  const cookie = await loggedIn(harness);
  const answer = await harness.ask("DELETE", "/api/v1/session", cookie);
  expect(answer.status).toBe(204);
  expect(answer.headers["set-cookie"]).toEqual([expect.stringContaining("Max-Age=0")]);
  expect(await harness.ask("GET", "/api/v1/thing", cookie)).toMatchObject({ status: 401 });
  expect(await harness.ask("DELETE", "/api/v1/session", cookie)).toMatchObject({ status: 204 });
  expect(harness.told.at(-1)).toMatchObject({ change: "log_off", reason: "log_out" });
});

it("takes a token, and refuses an unknown one whatever cookie is beside it", async () => {
  await using harness = await start();
  expect(await harness.ask("GET", "/metrics", bearer)).toMatchObject({ status: 200 });
  expect(await harness.ask("GET", "/api/v1/session", bearer)).toMatchObject({
    body: { name: "prometheus", role: "observer", expires_at: null },
  });
  const cookie = await loggedIn(harness);
  const wrong = { ...cookie, authorization: "Bearer fgt_guessed" };
  expect(await harness.ask("GET", "/api/v1/thing", wrong)).toMatchObject({ status: 401 });
  expect(harness.told.at(-1)).toMatchObject({ kind: "refused", operation: "log_on", code: "NOT_ALLOWED" });
  // A proxy before the gateway may have a log-in of its own.
  const basic = { ...cookie, authorization: "Basic YTpi" };
  expect(await harness.ask("GET", "/api/v1/thing", basic)).toMatchObject({ status: 200 });
});

it("answers a wrong password and an unknown user alike, and delays the next attempt", async () => {
  await using harness = await start();
  const wrong = await harness.logIn("anna", "a guess");
  // Typed into the wrong field.
  const unknown = await harness.logIn("anna's password", "a guess");
  expect(wrong.status).toBe(401);
  expect([unknown.status, unknown.body, unknown.headers["retry-after"]]).toEqual([
    wrong.status,
    wrong.body,
    wrong.headers["retry-after"],
  ]);
  expect(harness.told).toEqual([
    expect.objectContaining({ source: { protocol: "web", name: "anna" }, origin: { address: "127.0.0.1" } }),
    expect.objectContaining({ source: { protocol: "web", name: "(unknown name)" } }),
  ]);
  for (let failure = 0; failure < 5; failure += 1) {
    harness.clock.advance(4_000);
    await harness.logIn("anna", "a guess");
  }
  // Of 33 that come within the delay one is too many; which one is chance.
  const crowd = Array.from({ length: 33 }, () => harness.logIn("anna", "a guess"));
  const { status, headers } = await Promise.race(crowd);
  expect([status, headers["retry-after"]]).toEqual([429, "4"]);
  expect(await harness.logIn("ben", "ben's password")).toMatchObject({ status: 200 });
  harness.clock.advance(4_000);
  await Promise.all(crowd);
  harness.clock.advance(4_000);
  expect(await harness.logIn("anna", "anna's password")).toMatchObject({ status: 200 });
});

it.each([
  [{}],
  [{ user: "anna" }],
  [{ user: "anna", password: 7 }],
  [{ user: "anna", password: "" }],
  [{ user: "a\nb", password: "x" }],
  [{ user: "anna", password: "x".repeat(257) }],
  [{ user: "anna", password: "x", role: "engineer" }],
  [["anna", "x"]],
])("refuses a body that is no log-in: %j", async (body) => {
  await using harness = await start();
  expect(await harness.ask("POST", "/api/v1/session", {}, body)).toMatchObject({ status: 400 });
  expect(harness.told).toEqual([]);
});

it("gives a new session at each log-in, and ends the one before: no session can be planted", async () => {
  await using harness = await start();
  const before = await loggedIn(harness);
  const answer = await harness.logIn("ben", "ben's password", before);
  expect(cookieOf(answer)).not.toBe(before.cookie);
  expect(await harness.ask("GET", "/api/v1/thing", before)).toMatchObject({ status: 401 });
  const planted = { cookie: `${before.cookie.split("=", 1)[0]}=${"a".repeat(43)}` };
  const after = await harness.logIn("ben", "ben's password", planted);
  expect(cookieOf(after)).not.toBe(planted.cookie);
  expect(await harness.ask("GET", "/api/v1/thing", planted)).toMatchObject({ status: 401 });
  const two = { cookie: `${cookieOf(after)}; ${planted.cookie}` };
  expect(await harness.ask("GET", "/api/v1/thing", two)).toMatchObject({ status: 401 });
});

it("is not confused by the cookie of another gateway on the same host", async () => {
  await using harness = await start("plant1");
  await using other = await start("plant2");
  const [own, foreign] = [await loggedIn(harness), await loggedIn(other)];
  expect(await harness.ask("GET", "/api/v1/thing", foreign)).toMatchObject({ status: 401 });
  const both = { cookie: `${foreign.cookie}; ${own.cookie}` };
  expect(await harness.ask("GET", "/api/v1/thing", both)).toMatchObject({ status: 200 });
  expect(await other.ask("GET", "/api/v1/thing", both)).toMatchObject({ status: 200 });
});

it("ends a session that is idle, and tells who and why", async () => {
  await using harness = await start();
  const cookie = await loggedIn(harness);
  harness.clock.advance(IDLE_MS);
  expect(await harness.ask("GET", "/api/v1/thing", cookie)).toMatchObject({ status: 401 });
  expect(harness.told.at(-1)).toMatchObject({ change: "log_off", reason: "idle" });
});

it.each<[string, Partial<WebUser>]>([
  ["role", { role: "engineer" }],
  ["password", { password: "another" }],
  ["robots", { robots: null }],
])(
  "a reload that changes a user's %s ends its sessions and what they have open, at once",
  async (_what, changed) => {
    await using harness = await start();
    const cookie = await loggedIn(harness);
    const other = { cookie: cookieOf(await harness.logIn("ben", "ben's password")) };
    const { closed } = await harness.follow(cookie);
    harness.reload({ users: [{ ...anna, ...changed }, ben] });
    await closed;
    expect(await harness.ask("GET", "/api/v1/thing", cookie)).toMatchObject({ status: 401 });
    expect(await harness.ask("GET", "/api/v1/thing", other)).toMatchObject({ status: 200 });
    expect(harness.told.at(-1)).toMatchObject({ change: "log_off", reason: "user_changed" });
  },
);

it("a reload that takes a user, a token or the openness away ends what they have open", async () => {
  await using harness = await start();
  const followers = [await harness.follow(await loggedIn(harness)), await harness.follow(bearer)];
  harness.reload({ users: [ben], tokens: [] });
  for (const { closed } of followers) await closed;
  expect(await harness.ask("GET", "/metrics", bearer)).toMatchObject({ status: 401 });
  await using opened = await createAccessHarness({});
  const { closed } = await opened.follow();
  opened.reload({ tokens: [prometheus] });
  await closed;
  expect(await opened.ask("GET", "/api/v1/thing")).toMatchObject({ status: 401 });
});

it.each([
  [{ origin: "http://evil.example" }],
  [{ origin: "null" }],
  [{ origin: "chrome-extension://abc" }],
  [{ "sec-fetch-site": "cross-site" }],
  // Another port of this host: the browser sends the cookies of this gateway.
  [{ "sec-fetch-site": "same-site" }],
])("refuses what a foreign page sends, with a session or without log-in: %j", async (headers) => {
  await using harness = await start();
  await using opened = await createAccessHarness({});
  const cookie = await loggedIn(harness);
  for (const method of ["GET", "DELETE", "POST"]) {
    expect(await harness.ask(method, "/api/v1/session", { ...cookie, ...headers })).toMatchObject({
      status: 403,
    });
    expect(await opened.ask(method, "/api/v1/session", headers)).toMatchObject({ status: 403 });
  }
  expect(await harness.ask("GET", "/api/v1/thing", cookie)).toMatchObject({ status: 200 });
});

it("takes what the gateway's own page sends", async () => {
  await using harness = await start();
  const cookie = await loggedIn(harness);
  const own = { origin: `http://127.0.0.1:${harness.port}`, "sec-fetch-site": "same-origin" };
  expect(await harness.ask("GET", "/api/v1/thing", { ...cookie, ...own })).toMatchObject({ status: 200 });
  const typed = { ...cookie, "sec-fetch-site": "none" };
  expect(await harness.ask("GET", "/api/v1/thing", typed)).toMatchObject({ status: 200 });
  const port = { ...cookie, origin: `http://127.0.0.1:${harness.port + 1}` };
  expect(await harness.ask("GET", "/api/v1/thing", port)).toMatchObject({ status: 403 });
});

it("answers others during a flood of log-ins, compares few, and bounds the audit log", async () => {
  await using harness = await start();
  const flood = Array.from({ length: 200 }, (_, guess) => harness.logIn(`user${guess}`, "a guess"));
  const answers = await Promise.all([...flood, harness.ask("GET", "/metrics", bearer)]);
  expect(answers.at(-1)).toMatchObject({ status: 200 });
  const statuses = answers.slice(0, -1).map(({ status }) => status);
  const compared = statuses.filter((status) => status === 401).length;
  expect(compared).toBeLessThan(100);
  expect(statuses.filter((status) => status === 429)).toHaveLength(200 - compared);
  const tokens = Array.from({ length: 200 }, (_, guess) =>
    harness.ask("GET", "/metrics", { authorization: `Bearer ${guess}` }),
  );
  await Promise.all(tokens);
  expect(harness.told).toHaveLength(10);
  await harness.logIn("anna", "a guess");
  expect(harness.told.at(-1)).toMatchObject({ source: { protocol: "web", name: "anna" } });
  harness.clock.advance(60_000);
  expect(harness.told.at(-1)).toMatchObject({
    operation: "log_on",
    message: `${compared + 200 - 10} more log-ins have failed within a minute`,
  });
});

it("refuses headers that are too large", async () => {
  await using harness = await start();
  const socket = connect(harness.port, "127.0.0.1");
  socket.end(`GET /api/v1/thing HTTP/1.1\r\nhost: a\r\ncookie: ${"a=b; ".repeat(10_000)}\r\n\r\n`);
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 431 /);
});
