import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RefusedRequest } from "../../../src/contracts/commander.ts";
import { pause } from "../../../src/northbound/web/api/robot.ts";
import { missionEvent } from "../../delivery/fleet-updates.ts";
import { fakeCatalogue, succeeded } from "../opcua/fake-commands.ts";
import { readStream, type StreamReader } from "./stream-reader.ts";
import { createWebHarness, type WebHarness } from "./web-harness.ts";

let harness: WebHarness;
const open: StreamReader[] = [];
beforeEach(async () => {
  harness = await createWebHarness();
});
afterEach(async () => {
  for (const reader of open.splice(0)) reader.close();
  await harness[Symbol.asyncDispose]();
});

async function send(method: string, path: string, body: object = {}) {
  const headers = { "content-type": "application/json", prefer: "wait=0" };
  const sent = method === "PUT" ? { body: JSON.stringify(body), headers } : {};
  const response = await fetch(`${harness.url}${path}`, { method, ...sent });
  return [response.status, (await response.json()) as Readonly<Record<string, unknown>>] as const;
}

const anna = { name: "anna", role: "operator", robots: null, password: "a" } as const;
const token = { name: "scada", role: "observer", robots: null, digest: "0".repeat(64) } as const;
const start = { operation: "CreateMission", request: { robotId: "r1" } };
const put = (id: string, fields: object) => send("PUT", `/api/v1/commands/${id}`, { ...start, ...fields });

async function follow(headers: Readonly<Record<string, string>> = {}): Promise<StreamReader> {
  const reader = await readStream({ host: "127.0.0.1", port: harness.port }, headers);
  open.push(reader);
  await reader.next("robots");
  return reader;
}

describe("commands over the web listener", () => {
  it.each([
    ["PUT", "/api/v1/commands/c1"],
    ["PUT", "/api/v1/alarms/a1/acknowledgement"],
    ["PUT", "/api/v1/hold"],
    ["PUT", "/api/v1/robots/r1/hold"],
    ["DELETE", "/api/v1/robots/r1/lease"],
    ["GET", "/api/v1/rights"],
    ["POST", "/api/v1/check"],
  ])("are not taken from a viewer that has not logged in: %s %s", async (method, path) => {
    harness.access = { users: [anna], tokens: [], movesFrom: null };
    expect(await send(method, path)).toMatchObject([401, { detail: expect.stringContaining("log in") }]);
  });

  it("do not move a robot from an address that the configuration does not name", async () => {
    harness.access = { users: [], tokens: [], movesFrom: ["192.0.2.1"] };
    expect(await put("c1", { expires_in_ms: 5_000 })).toMatchObject([403, { code: "NOT_ALLOWED" }]);
  });

  it("are of the viewer, with the address that they came from", async () => {
    const answer = put("c1", { expires_in_ms: 5_000 });
    const { command, end } = await harness.commander.next();
    expect(command).toMatchObject({
      source: { protocol: "web", name: "open" },
      requestId: "c1",
      startByMs: harness.clock.nowMs() + 5_000,
      origin: { address: "127.0.0.1" },
    });
    await harness.clock.settle(0);
    expect(await answer).toMatchObject([202, { id: "c1", stage: "received" }]);
    end(succeeded("m1"));
    expect(await put("c1", { expires_in_ms: 5_000 })).toMatchObject([
      200,
      { outcome: "succeeded", duplicate: true },
    ]);
  });

  it("name the address in the audit log when a hold is refused", async () => {
    const told: unknown[] = [];
    const refused = (request: RefusedRequest) => void told.push([request.operation, request.origin]);
    harness.commander.serve({ catalogue: fakeCatalogue(), clock: harness.clock, refused });
    await send("PUT", "/api/v1/hold", { hold: 7 });
    expect(told).toEqual([["HoldAll", { address: "127.0.0.1" }]]);
  });

  it("start a robot only with an expiry, or by a page that knows what holds now", async () => {
    expect(await put("c1", {})).toMatchObject([
      400,
      { code: "NO_EXPIRY", detail: expect.stringContaining("give expires_in_ms") },
    ]);
    const reader = await follow();
    await harness.clock.settle(1_000);
    const { id: tick } = await reader.next("tick");
    await harness.clock.settle(9_000);
    const answer = put("c2", { tick });
    (await harness.commander.next()).end(succeeded("m1"));
    expect(await answer).toMatchObject([200, { duplicate: false }]);
    await harness.clock.settle(1_500);
    for (const fields of [{ tick }, { tick, expires_in_ms: 5_000 }, { tick: "s0.1" }])
      expect(await put("c3", fields)).toMatchObject([
        400,
        { code: "NO_EXPIRY", detail: expect.stringContaining("older than 10 s") },
      ]);
    // Another answer than its own would make its sender send it under another id.
    expect(await put("c2", { tick })).toMatchObject([200, { duplicate: true }]);
    expect(await put("c4", { tick: 7 })).toMatchObject([400, { code: "MALFORMED" }]);
  });

  it("stop a robot until 5 s after the press whose tick they name, with the stream or without", async () => {
    const catalogue = fakeCatalogue("stops");
    harness.commander.serve({ catalogue, clock: harness.clock, refused: () => {} });
    harness.fleet.receive(missionEvent("r1", ["m1:RUNNING"]));
    const {
      commands: [stop],
      tick,
    } = pause.parse(await (await fetch(`${harness.url}/api/v1/robots/r1/pause`)).json());
    await harness.clock.settle(5_000);
    const answer = send("PUT", "/api/v1/commands/c1", { ...stop, tick });
    (await harness.commander.next()).end(succeeded("m1"));
    expect(await answer).toMatchObject([200, { duplicate: false }]);
    await harness.clock.settle(1);
    expect(await send("PUT", "/api/v1/commands/c2", { ...stop, tick })).toMatchObject([
      400,
      { code: "NO_EXPIRY", detail: expect.stringContaining("comes too late: press again") },
    ]);
    // What was taken stays taken.
    expect(await send("PUT", "/api/v1/commands/c1", { ...stop, tick })).toMatchObject([
      200,
      { duplicate: true },
    ]);
    const later = send("PUT", "/api/v1/commands/c3", stop ?? {});
    (await harness.commander.next()).end(succeeded("m1"));
    expect(await later).toMatchObject([200, { duplicate: false }]);
  });

  it("are refused when the browser's log-in is another user's by now", async () => {
    const fields = { expires_in_ms: 5_000 };
    expect(await put("c1", { ...fields, asked_by: "bob" })).toMatchObject([
      400,
      { code: "MALFORMED", detail: 'asked_by: this log-in is "open"; log in as the user who asks' },
    ]);
    const answer = put("c1", { ...fields, asked_by: "open" });
    (await harness.commander.next()).end(succeeded("m1"));
    expect(await answer).toMatchObject([200, { outcome: "succeeded" }]);
  });
});

describe("streams of a browser", () => {
  const cookieOf = ({ response }: StreamReader) =>
    (response.headers["set-cookie"]?.[0] ?? "").split(";")[0] ?? "";

  it("are four: a fifth ends the oldest, which says so", async () => {
    const first = await follow();
    expect(first.response.headers["set-cookie"]).toEqual([
      expect.stringMatching(
        /^fleetgate_browser_[0-9a-f]+=[\w-]{22}; Path=\/api\/v1; HttpOnly; SameSite=Strict$/,
      ),
    ]);
    const cookie = cookieOf(first);
    const others = [];
    for (let index = 0; index < 4; index += 1) others.push(await follow({ cookie: `other=1; ${cookie}` }));
    expect(await first.next("closed")).toMatchObject({ code: "replaced", reconnect: false });
    await first.ended;
    await harness.clock.settle(1_000);
    for (const reader of others) {
      expect(await reader.next("tick")).toMatchObject({ id: "s1.1000" });
      expect(reader.response.headers["set-cookie"]).toBeUndefined();
    }
  });

  it("are counted for each browser, whatever a cookie of this name says", async () => {
    const readers = [];
    for (let index = 0; index < 6; index += 1)
      readers.push(await follow({ cookie: "fleetgate_browser_x=y" }));
    await harness.clock.settle(1_000);
    for (const reader of readers) expect(await reader.next("tick")).toMatchObject({ id: "s1.1000" });
    expect(new Set(readers.map(cookieOf)).size).toBe(6);
  });
});

describe("a stream", () => {
  it("ends when a reload takes its user, and is not opened again", async () => {
    harness.access = { users: [anna], tokens: [], movesFrom: null };
    const answer = await fetch(`${harness.url}/api/v1/session`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ user: "anna", password: "a" }),
    });
    const cookie = String(answer.headers.get("set-cookie")).split(";", 1)[0] ?? "";
    const response = await fetch(`${harness.url}/api/v1/stream`, { headers: { cookie } });
    expect(response.status).toBe(200);
    const ended = response.text().catch(() => "ended");
    harness.access = { users: [], tokens: [token], movesFrom: null };
    expect(await ended).toBe("ended");
    expect((await fetch(`${harness.url}/api/v1/stream`, { headers: { cookie } })).status).toBe(401);
  });
});
