import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { fastify } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addConsole } from "../../../src/northbound/web/console-files.ts";

const page = "<!doctype html><title>The console</title>";
const script = "console.log('".concat("x".repeat(2_000), "')");
const server = fastify();
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fleetgate-console-"));
  await mkdir(join(folder, "assets"));
  await writeFile(join(folder, "index.html"), page);
  await writeFile(join(folder, "assets", "index-1.js"), script);
  await writeFile(join(folder, "assets", "index-1.js.map"), "{}");
  addConsole(server, folder);
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

test.each([
  "/",
  "/?map=1",
  "/robots/cart-01",
  "/robots/a%2Fb",
  "/commands",
  "/commands/mqtt%3Ab%2F1",
  "/alarms",
])("serves its page at %s, with a policy that allows nothing inline", async (url) => {
  const answer = await server.inject({ url });
  expect([answer.statusCode, answer.body]).toEqual([200, page]);
  expect(answer.headers["content-type"]).toBe("text/html; charset=utf-8");
  expect(answer.headers["cache-control"]).toBe("no-cache");
  const policy = answer.headers["content-security-policy"];
  expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
  expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
});

test("serves an asset for good, compressed for those who take it", async () => {
  const plain = await server.inject({ url: "/assets/index-1.js" });
  expect([plain.statusCode, plain.body]).toEqual([200, script]);
  expect(plain.headers["cache-control"]).toContain("immutable");
  const zipped = await server.inject({
    url: "/assets/index-1.js",
    headers: { "accept-encoding": "br, gzip" },
  });
  expect(zipped.headers).toMatchObject({ "content-encoding": "gzip", vary: "accept-encoding" });
  expect(gunzipSync(zipped.rawPayload).toString()).toBe(script);
});

test.each([
  "/index.html",
  "/assets",
  "/assets/",
  "/assets/index-2.js",
  "/assets/index-1.js.map",
  "/assets/../index.html",
  "/assets/..%2f..%2f..%2fetc/passwd",
  "/alarms/1",
  "/simulator",
])("serves nothing at %s", async (url) => {
  const answer = await server.inject({ url });
  expect(answer.statusCode).toBe(404);
});

test.each(["/nope", "/alarms/1", "/apian"])(
  "shows a person its page at %s, which says there is none",
  async (url) => {
    const asPerson = await server.inject({ url, headers: { accept: "text/html,*/*;q=0.8" } });
    expect([asPerson.statusCode, asPerson.body]).toEqual([404, page]);
    expect(asPerson.headers["content-security-policy"]).toContain("script-src 'self'");
    expect((await server.inject({ url, headers: { accept: "*/*" } })).body).not.toBe(page);
  },
);

test.each(["/api/v1/nope", "/api", "/assets/index-2.js"])("has no page at %s", async (url) => {
  const answer = await server.inject({ url, headers: { accept: "text/html" } });
  expect([answer.statusCode, answer.body === page]).toEqual([404, false]);
});

test("has a page for the simulator only where there is one", async () => {
  const demo = fastify();
  addConsole(demo, folder, true);
  expect((await demo.inject({ url: "/simulator" })).body).toBe(page);
  await demo.close();
});

test("says that it was not built", async () => {
  const bare = fastify();
  addConsole(bare, null);
  const answer = await bare.inject({ url: "/" });
  expect(answer.statusCode).toBe(503);
  expect(answer.json()).toMatchObject({ detail: "the console is not built: run npm run build" });
  await bare.close();
});
