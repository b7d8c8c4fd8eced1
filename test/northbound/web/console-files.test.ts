import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { fastify } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addConsole } from "../../../src/northbound/web/console-files.ts";

const page = "<!doctype html><title>The console</title>";
const script = "console.log('".concat("x".repeat(2_000), "')");
const manual = "<!doctype html><title>The manual</title>";
const picture = Buffer.from([0x89, 0x50, 0x4e, 0x47]);
const server = fastify();
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fleetgate-console-"));
  await mkdir(join(folder, "assets"));
  await writeFile(join(folder, "index.html"), page);
  await writeFile(join(folder, "assets", "index-1.js"), script);
  await writeFile(join(folder, "assets", "index-1.js.map"), "{}");
  await mkdir(join(folder, "docs", "files"), { recursive: true });
  await writeFile(join(folder, "docs", "index.html"), manual);
  await writeFile(join(folder, "docs", "search.json"), "[]");
  await writeFile(join(folder, "docs", "picture.png"), picture);
  await writeFile(join(folder, "docs", "files", "plant.yaml"), "gateway: {}");
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
  expect(policy).toContain("require-trusted-types-for 'script'; trusted-types floor-worker");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
});

test("serves an asset for good, compressed for those who take it", async () => {
  const plain = await server.inject({ url: "/assets/index-1.js" });
  expect([plain.statusCode, plain.body]).toEqual([200, script]);
  expect(plain.headers["cache-control"]).toContain("immutable");
  // A worker loads its font by the policy of its own script.
  expect(plain.headers["content-security-policy"]).toContain("font-src 'self'");
  const zipped = await server.inject({
    url: "/assets/index-1.js",
    headers: { "accept-encoding": "br, gzip" },
  });
  expect(zipped.headers).toMatchObject({ "content-encoding": "gzip", vary: "accept-encoding" });
  expect(gunzipSync(zipped.rawPayload).toString()).toBe(script);
});

test.each(["/docs/", "/docs/index.html"])(
  "serves the manual at %s, with the console's policy",
  async (url) => {
    const answer = await server.inject({ url });
    expect([answer.statusCode, answer.body]).toEqual([200, manual]);
    const { headers } = await server.inject({ url: "/" });
    expect(answer.headers["content-security-policy"]).toBe(headers["content-security-policy"]);
    expect(answer.headers["cache-control"]).toBe("no-cache");
  },
);

test("leads to the manual without a slash too", async () => {
  const answer = await server.inject({ url: "/docs" });
  expect([answer.statusCode, answer.headers.location]).toEqual([308, "/docs/"]);
});

test.each([
  ["/docs/search.json", "application/json", "[]"],
  ["/docs/picture.png", "image/png", picture.toString()],
  ["/docs/files/plant.yaml", "text/plain; charset=utf-8", "gateway: {}"],
])("serves %s as %s", async (url, type, body) => {
  const answer = await server.inject({ url });
  expect([answer.statusCode, answer.headers["content-type"], answer.body]).toEqual([200, type, body]);
});

test("compresses no picture", async () => {
  const answer = await server.inject({ url: "/docs/picture.png", headers: { "accept-encoding": "gzip" } });
  expect([answer.headers["content-encoding"], answer.rawPayload]).toEqual([undefined, picture]);
});

test.each(["/", "/docs/", "/docs/search.json", "/assets/index-1.js"])(
  "sends nothing of %s again that a browser has",
  async (url) => {
    const { etag = "" } = (await server.inject({ url })).headers;
    expect(etag).toMatch(/^W\/"[\w-]{22}"$/);
    for (const known of [`${etag}`, `"another", ${etag}`]) {
      const again = await server.inject({ url, headers: { "if-none-match": known } });
      expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, "", etag]);
    }
    const other = await server.inject({ url, headers: { "if-none-match": 'W/"another"' } });
    expect(other.statusCode).toBe(200);
  },
);

test.each([
  "/docs/nope.html",
  "/docs/plant.yaml",
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
