import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { lockFolder } from "../../../src/platform/folder-lock.ts";
import { createCa, createServerCertificate } from "../../../src/simulator/tls/identity.ts";
import { type RunningSimulator, startSimulator } from "../../support/simulator.ts";
import {
  configText,
  createOnlineHarness,
  type OnlineHarness,
  startHttps,
  startOther,
} from "./online-harness.ts";

const DAY_MS = 86_400_000;
let simulator: RunningSimulator;
let harness: OnlineHarness;

beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.stop());
beforeEach(async () => {
  harness = await createOnlineHarness();
});
afterEach(() => harness[Symbol.asyncDispose]());

const good = (more = "") => configText(simulator.endpoints, more);

describe("check --online, of the fleet service", () => {
  it("finds that all is right, and writes nothing", async () => {
    const parts = await harness.check(good("web: { listen: { port: 0 } }"));
    expect([...parts.values()].filter(({ state }) => state === "wrong")).toEqual([]);
    expect(parts.get("token")).toMatchObject({ state: "ok", detail: expect.stringContaining("60 min") });
    expect(parts.get("stream")).toMatchObject({
      state: "ok",
      detail: expect.stringMatching(/the first message came after \d+ ms, of /),
    });
    expect(parts.get("gateway")?.detail).toContain("none runs on");
    expect(parts.get("disk gateway.dataDir")?.state).toBe("ok");
    expect((await readdir(harness.folder.path)).sort()).toEqual(["api-key.json", "fleetgate.yaml"]);
    expect(simulator.openCalls()).toBe(0);
  });

  it("says whether the clients of reverse connections answer", async () => {
    const scada = await startOther();
    const addresses = `[opc.tcp://127.0.0.1:${scada.port}, opc.tcp://127.0.0.1:1]`;
    const parts = await harness.check(good(`opcua: { listen: { port: 0 }, reverseConnect: ${addresses} }`));
    scada.close();
    expect(parts.get("connection opcua.reverseConnect[0]")).toMatchObject({
      state: "ok",
      detail: `127.0.0.1:${scada.port} takes connections`,
    });
    expect(parts.get("connection opcua.reverseConnect[1]")).toMatchObject({
      state: "wrong",
      detail: expect.stringContaining("nothing listens there"),
    });
  });

  it("says that the ports for gRPC and HTTPS are swapped", async () => {
    const { grpc, https, ...rest } = simulator.endpoints;
    const swapped = { ...rest, grpc: https.replace("https://", ""), https: `https://${grpc}` };
    const parts = await harness.check(configText(swapped));
    for (const key of ["fleet.grpc.address", "fleet.https"])
      expect(parts.get(`connection ${key}`)).toMatchObject({
        state: "wrong",
        advice: expect.stringContaining("swapped"),
      });
    expect(parts.get("token")?.state).toBe("skipped");
    expect(parts.get("stream")?.state).toBe("skipped");
  });

  it("names the key where the authority is not the one that is trusted", async () => {
    const other = await createCa(Date.now());
    const ca = await harness.folder.write("other.pem", other.certificate);
    const parts = await harness.check(configText({ ...simulator.endpoints, ca }));
    expect(parts.get("connection fleet.https")).toMatchObject({
      state: "wrong",
      detail: expect.stringMatching(/from a CA that is not trusted \(issuer: Fleetgate simulator CA/),
      advice: expect.stringContaining("fleet.ca"),
    });
  });

  it.each([
    ["has expired", -500 * DAY_MS, /has expired on 20.*; this machine's clock says 20/],
    ["is not yet valid", 5 * DAY_MS, /is not yet valid, but from 20.* on; this machine's clock says 20/],
  ])("names clock and date where a certificate %s", async (_, offsetMs, detail) => {
    const authority = await createCa(Date.now() - 1_000 * DAY_MS);
    const server = await startHttps(
      await createServerCertificate(authority, ["127.0.0.1"], Date.now() + offsetMs),
    );
    const ca = await harness.folder.write("ca.pem", authority.certificate);
    const parts = await harness.check(
      configText({ ca, grpc: server.address, https: `https://${server.address}` }),
    );
    server.close();
    expect(parts.get("connection fleet.https")).toMatchObject({
      state: "wrong",
      detail: expect.stringMatching(detail),
      advice: expect.stringContaining("clock"),
    });
    // The clock is compared all the same: it may be the reason.
    expect(parts.get("clock")?.state).toBe("ok");
  });

  it("names the host and the key where a certificate is for another host", async () => {
    const authority = await createCa(Date.now());
    const server = await startHttps(
      await createServerCertificate(authority, ["fleet.example.com"], Date.now()),
    );
    const ca = await harness.folder.write("ca.pem", authority.certificate);
    const parts = await harness.check(
      configText({ ca, grpc: server.address, https: `https://${server.address}` }),
    );
    server.close();
    expect(parts.get("connection fleet.https")).toMatchObject({
      state: "wrong",
      detail: expect.stringContaining("is not for 127.0.0.1; it is for DNS:fleet.example.com"),
      advice: expect.stringContaining("fleet.https"),
    });
  });

  it("says that a port does not speak TLS, and that a name is unknown", async () => {
    const other = await startOther();
    const parts = await harness.check(
      configText({ grpc: "nobody.invalid:443", https: `https://127.0.0.1:${other.port}` }),
    );
    other.close();
    expect(parts.get("name fleet.grpc.address")).toMatchObject({
      state: "wrong",
      detail: expect.stringContaining("nobody.invalid cannot be resolved"),
    });
    expect(parts.get("connection fleet.grpc.address")?.state).toBe("skipped");
    expect(parts.get("connection fleet.https")).toMatchObject({
      state: "wrong",
      detail: expect.stringContaining("ECONNRESET"),
    });
  });

  it("blames the proxy, and not what is behind it", async () => {
    // Nobody serves the discard protocol.
    const text = good().replace("locations:", `proxy: { url: "http://127.0.0.1:9" }\n  locations:`);
    const parts = await harness.check(text);
    expect(parts.get("connection fleet.proxy.url")?.state).toBe("wrong");
    expect(parts.get("connection fleet.https")).toMatchObject({
      state: "skipped",
      detail: "the proxy cannot be reached",
    });
  });

  it("names what the service refuses", async () => {
    const robots = await harness.check(good().replace("locations: [plant-1]", "robots: [nobody]"));
    expect(robots.get("stream")).toMatchObject({
      state: "wrong",
      detail: expect.stringContaining("robot nobody"),
      advice: expect.stringContaining("fleet.robots"),
    });
    const key = { api_key: "no-such-key", scope: "acme", secret: "s3cr3t-of-nobody" };
    const credentials = await harness.folder.write("wrong.json", JSON.stringify(key));
    const parts = await harness.check(configText({ ...simulator.endpoints, credentials }));
    expect(parts.get("token")).toMatchObject({
      state: "wrong",
      detail: "the authentication server refuses the API key (401)",
      advice: expect.stringContaining("fleet.credentials"),
    });
    expect(JSON.stringify([...parts])).not.toContain("s3cr3t");
  });

  it("asks for no token while the gateway has used up the rate", async () => {
    const folder = join(harness.folder.path, "data", "fleet");
    await mkdir(folder, { recursive: true });
    const times = Array.from({ length: 18 }, () => Date.now() - 60_000);
    await writeFile(join(folder, "token-requests.json"), JSON.stringify(times));
    const parts = await harness.check(good());
    expect(parts.get("token")).toMatchObject({
      state: "skipped",
      detail: expect.stringMatching(/used up its rate of token requests for 2[34]\d s more/),
    });
    expect(parts.get("stream")?.state).toBe("skipped");
  });
});

it("asks for one token, never for two", async () => {
  const once = { count: 1, windowMs: 60_000 };
  const strict = await startSimulator({ exchangeLimits: { perKeyAndAddress: once, perAddress: once } });
  const text = configText(strict.endpoints);
  const first = await harness.check(text);
  const second = await harness.check(text);
  await strict.stop();
  expect(first.get("token")?.state).toBe("ok");
  expect(first.get("stream")?.state).toBe("ok");
  expect(second.get("token")).toMatchObject({
    state: "wrong",
    detail: expect.stringContaining("429"),
    advice: expect.stringMatching(/^wait .+ before the next check: each asks for a token/),
  });
});

describe("check --online, of this machine", () => {
  it("says that a port is taken, and leaves a gateway that runs alone", async () => {
    const other = await startOther();
    const text = good(`web: { listen: { port: ${other.port} } }`);
    const alone = await harness.check(text);
    expect(alone.get("port web.listen")).toMatchObject({
      state: "wrong",
      advice: expect.stringContaining("web.listen.port"),
    });
    const lock = await lockFolder(join(harness.folder.path, "data"), "");
    const beside = await harness.check(text);
    await lock[Symbol.asyncDispose]();
    other.close();
    expect(beside.get("gateway")?.detail).toContain(`process ${process.pid} runs`);
    expect(beside.get("port web.listen")?.state).toBe("ok");
  });

  it("says that an address to listen on is none of this machine", async () => {
    const parts = await harness.check(good('opcua: { listen: { host: "192.0.2.1" } }'));
    expect(parts.get("port opcua.listen")).toMatchObject({
      state: "wrong",
      advice: expect.stringContaining("no network of this machine"),
    });
  });
});
