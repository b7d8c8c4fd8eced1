import { spawnSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { stringify } from "yaml";
import { freePorts } from "../support/free-ports.ts";
import { type Daemon, READY, startDaemon } from "./daemon.ts";

/*
 * A machine without a battery clock: it boots in 2010, and NTP sets it right a moment later.
 */

const DAY_MS = 86_400_000;
const WRONG = "set the clock, best by NTP";
const SOON = { timeout: 60_000, interval: 200 };

let folder: string;
let webPort: number;
let config: string;
let daemon: Daemon | null = null;
/** Node.js options of a process in 2010; SIGUSR2 sets its clock right. */
let in2010: readonly string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fleetgate-clock-"));
  webPort = await freePorts(2);
  const script = `
    const RealDate = Date, now = Date.now;
    let behindMs = now() - ${Date.UTC(2010, 0, 1)};
    RealDate.now = () => now() - behindMs;
    globalThis.Date = new Proxy(RealDate, {
      construct: (target, args, newTarget) =>
        Reflect.construct(target, args.length === 0 ? [RealDate.now()] : args, newTarget),
    });
    process.on("SIGUSR2", () => { behindMs = 0; });`;
  await writeFile(join(folder, "in-2010.mjs"), script);
  in2010 = ["--import", join(folder, "in-2010.mjs")];
  await writeFile(join(folder, "key.json"), JSON.stringify({ api_key: "k", scope: "s", secret: "x" }));
  config = join(folder, "fleetgate.yaml");
  const file = {
    gateway: { id: "plant1", dataDir: "data" },
    fleet: {
      grpc: { address: "127.0.0.1:1" },
      https: "https://127.0.0.1:1",
      credentials: "key.json",
      robots: ["r1"],
      times: { backoffBaseMs: 20, backoffCapMs: 200 },
    },
    opcua: {
      listen: { host: "127.0.0.1", port: webPort + 1 },
      hostname: "localhost",
      insecureLoopback: { role: "observer" },
    },
    web: { listen: { host: "127.0.0.1", port: webPort } },
  };
  await writeFile(config, stringify(file));
});
afterEach(async () => {
  await daemon?.stop();
  daemon = null;
  await rm(folder, { recursive: true, force: true });
});

async function part(name: string): Promise<{ readonly state: string; readonly detail?: string }> {
  const response = await fetch(`http://127.0.0.1:${webPort}/healthz`);
  const { components } = (await response.json()) as { components: Record<string, { state: string }> };
  return components[name] ?? { state: "none" };
}

const certificate = () => join(folder, "data/opcua/server/own/certs/certificate.pem");
const fleetgate = (...command: string[]) =>
  spawnSync(process.execPath, [...in2010, "dist/main.js", ...command], { encoding: "utf8" });

test("a first start with a wrong clock makes no certificate until the clock is right", async () => {
  daemon = startDaemon(config, in2010);
  await daemon.says(READY);
  expect(daemon.said().split(WRONG).length - 1).toBeGreaterThan(0);
  const waits = await part("opcua");
  expect(waits.state).toBe("down");
  expect(waits.detail).toMatch(/^opcua has no certificate: .*clock says 2010-01-01.*set the clock/);
  expect(await part("clock")).toMatchObject({ state: "degraded", detail: expect.stringContaining(WRONG) });
  expect(existsSync(certificate())).toBe(false);
  process.kill(daemon.pid, "SIGUSR2");
  await vi.waitFor(async () => expect((await part("opcua")).state).toBe("up"), SOON);
  const { validFrom, validTo } = new X509Certificate(await readFile(certificate()));
  expect(Date.parse(validFrom)).toBeGreaterThan(Date.now() - 2 * DAY_MS);
  expect(Date.parse(validTo)).toBeGreaterThan(Date.now() + 3_600 * DAY_MS);
  await vi.waitFor(async () => expect((await part("clock")).state).toBe("up"), SOON);
  expect(daemon.said().split("opcua has no certificate").length - 1).toBe(2);
}, 180_000);

test("a start with a wrong clock keeps the certificate that clients trust, and serves with it", async () => {
  daemon = startDaemon(config);
  await daemon.says(READY);
  await vi.waitFor(async () => expect((await part("opcua")).state).toBe("up"), SOON);
  await daemon.stop();
  const before = await readFile(certificate(), "utf8");
  daemon = startDaemon(config, in2010);
  await daemon.says(READY);
  expect((await part("opcua")).state).toBe("up");
  expect(await readFile(certificate(), "utf8")).toBe(before);
}, 180_000);

test("check, init and certs renew say that the clock is wrong, and make nothing by it", () => {
  const check = fleetgate("check", "--config", config);
  expect([check.status, check.stderr]).toEqual([0, expect.stringContaining(WRONG)]);
  const made = join(folder, "made.yaml");
  const answers = ["--id", "p2", "--fleet", "fleet.example.com:443", "--robots", "r1"];
  const outside = [
    "--api-key",
    join(folder, "key.json"),
    "--mqtt",
    "embedded",
    "--host",
    "gateway.example.com",
  ];
  const init = fleetgate("init", "--config", made, ...answers, ...outside, "--mqtt-user", "scada");
  expect([init.status, init.stderr]).toEqual([64, expect.stringContaining(WRONG)]);
  expect(existsSync(made)).toBe(false);
  const renew = fleetgate("certs", "renew", "--config", config);
  expect([renew.status, renew.stderr]).toEqual([1, expect.stringContaining(WRONG)]);
}, 120_000);
