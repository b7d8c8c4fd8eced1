import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { createAlarmWatch } from "../../src/composition/alarm-watch.ts";
import { createOwnCertificates, type OwnCertificates } from "../../src/config/certificate-files.ts";
import { ofGateway } from "../../src/domain/alarm.ts";
import { createLive } from "../../src/platform/live.ts";
import type { AlarmRegistry } from "../../src/state/alarm-registry.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { serverCertificate } from "../support/server-certificate.ts";
import { emptyAlarmBook } from "../support/test-alarms.ts";

const DAY_MS = 86_400_000;
const TEN_YEARS_MS = 3_650 * DAY_MS;

let clock: ManualClock;
let registry: AlarmRegistry;
let dataDir: string;
let free: number | null;
let losing: string[];
let problem: string | null;
let certificate: string;
let isCa: boolean;
let certificates: OwnCertificates;
let builtAt: Date | null;
let clockProblem: string | null;
let lost: string | null;

beforeEach(async () => {
  clock = createManualClock();
  registry = emptyAlarmBook(clock);
  dataDir = mkdtempSync(join(tmpdir(), "alarm-watch-"));
  [free, losing, problem, builtAt, clockProblem, lost] = [1e9, [], null, null, null, null];
  isCa = false;
  certificate = join(dataDir, "mqtt.pem");
  writeFileSync(certificate, (await serverCertificate(["localhost"], clock.nowMs())).certificate);
});

/** Starts the watch. The result stops it. */
async function start(hasOpcUa = false): Promise<() => Promise<void>> {
  const stopping = new AbortController();
  certificates = createOwnCertificates({
    certificates: createLive([{ key: "mqtt.certificate", path: certificate, isCa }]),
    opcua: hasOpcUa ? ({ certificate: createLive(null), dataDir } as never) : null,
  });
  const watch = createAlarmWatch({
    dataDir,
    stores: { lossToConfirm: () => lost },
    certificates,
    noteHealth: () => {},
    fleet: { renewalProblem: () => problem },
    fanOut: { losing: () => losing },
    state: registry.state,
    tick: () => void registry.take(),
    builtAt,
    noteWrongClock: (found) => {
      clockProblem = found;
    },
    clock,
    free: () => free,
  });
  let running = Promise.resolve();
  await new Promise<void>((ready) => {
    running = watch.run(stopping.signal, ready);
  });
  return async () => {
    stopping.abort();
    await running;
  };
}

const standing = () =>
  registry.all().map(({ code, severity, isActive }) => `${code} ${severity} ${isActive}`);

describe("the disk", () => {
  it("is an alarm at 8 MB, at once, and none again at 16 MB", async () => {
    const stop = await start();
    for (const [bytes, wanted] of [
      [8_000_000, []],
      [7_999_999, ["DISK_FULL 700 true"]],
      [15_999_999, ["DISK_FULL 700 true"]],
      [16_000_000, ["DISK_FULL 700 false"]],
      [null, ["DISK_FULL 700 false"]],
    ] as const) {
      free = bytes;
      await clock.settle(1_000);
      expect(standing()).toEqual(wanted);
    }
    await stop();
  });
});

it("raises an alarm for lost records, until the first start after their reset", async () => {
  lost = 'the store "journal" is lost since today (it is gone)';
  const stop = await start();
  await clock.settle(1_000);
  expect(registry.of(ofGateway).map(({ text }) => text)).toEqual([lost]);
  await stop();
  lost = null;
  const stopNext = await start();
  await clock.settle(1_000);
  await stopNext();
  expect(standing()).toEqual(["RECORDS_LOST 800 false"]);
});

describe("what lasts for a minute", () => {
  it("is an alarm: lost events, and a token that is not renewed", async () => {
    const stop = await start();
    [losing, problem] = [["mqtt"], "the key is refused"];
    await clock.settle(60_000);
    expect(standing()).toEqual([]);
    await clock.settle(2_000);
    expect(registry.of(ofGateway).map(({ text }) => text)).toEqual([
      "events for mqtt are lost: more come than are taken",
      "the token of the fleet service cannot be renewed",
    ]);
    problem = "the key is refused; the next attempt is at 12:00";
    await clock.settle(2_000);
    expect(registry.of(ofGateway).map(({ occurrences }) => occurrences)).toEqual([1, 1]);
    [losing, problem] = [[], null];
    await clock.settle(62_000);
    expect(standing()).toEqual(["BUFFER_DROPPING 400 false", "TOKEN_NOT_RENEWED 400 false"]);
    await stop();
  });
});

describe("a certificate of the gateway's own", () => {
  it.each([
    [61, []],
    [59, ["CERTIFICATE_EXPIRES 300 true"]],
    [8, ["CERTIFICATE_EXPIRES 300 true"]],
    [6, ["CERTIFICATE_EXPIRES 700 true"]],
    [-1, ["CERTIFICATE_EXPIRES 700 true"]],
  ])("%i days before its end", async (days, wanted) => {
    clock.advance(TEN_YEARS_MS - days * DAY_MS);
    const stop = await start();
    await clock.settle(1_000);
    expect(standing()).toEqual(wanted);
    await stop();
  });

  it("is not called expired by a clock that is before the build", async () => {
    builtAt = new Date(clock.nowMs() + 2 * DAY_MS);
    writeFileSync(certificate, (await serverCertificate(["localhost"], 0)).certificate);
    const stop = await start();
    await clock.settle(1_000);
    expect(standing()).toEqual([]);
    expect(clockProblem).toMatch(
      /^this machine's clock says 2026-01-01, and the program was built on 2026-01-03/,
    );
    clock.jump(3 * DAY_MS);
    await clock.settle(62_000);
    // The file is read meanwhile, and the condition evaluated by the next look.
    const now = async () => {
      await clock.settle(1_000);
      return standing();
    };
    await expect.poll(now).toEqual(["CERTIFICATE_EXPIRES 700 true"]);
    expect(clockProblem).toBeNull();
    await stop();
  });

  it("is looked at every 5 s, so that a new file ends the alarm", async () => {
    clock.advance(TEN_YEARS_MS - 30 * DAY_MS);
    const stop = await start();
    await clock.settle(1_000);
    expect(registry.all()[0]?.text).toContain(`mqtt.certificate (${certificate}) ends on `);
    writeFileSync(certificate, (await serverCertificate(["localhost"], clock.nowMs())).certificate);
    await clock.settle(5_000);
    const now = () => {
      registry.take();
      return standing();
    };
    await expect.poll(now).toEqual(["CERTIFICATE_EXPIRES 300 false"]);
    await stop();
  });

  it("is found 5 s after it was made", async () => {
    const text = readFileSync(certificate);
    rmSync(certificate);
    const stop = await start();
    expect(certificates.found().map(({ endMs }) => endMs)).toEqual([Number.POSITIVE_INFINITY]);
    writeFileSync(certificate, text);
    await clock.settle(5_000);
    await expect.poll(() => certificates.found()[0]?.endMs).toBeLessThan(clock.nowMs() + 2 * TEN_YEARS_MS);
    await stop();
  });

  it("may be a CA that the gateway trusts: the last of its file counts", async () => {
    const [old, next] = await Promise.all(
      [0, 100 * DAY_MS].map((laterMs) => serverCertificate(["localhost"], clock.nowMs() + laterMs)),
    );
    writeFileSync(certificate, `${old?.certificate}${next?.certificate}`);
    clock.advance(TEN_YEARS_MS - 30 * DAY_MS);
    isCa = true;
    const stop = await start();
    await clock.settle(1_000);
    expect(standing()).toEqual([]);
    clock.jump(100 * DAY_MS);
    await clock.settle(5_000);
    await expect
      .poll(async () => {
        await clock.settle(1_000);
        return standing();
      })
      .toEqual(["CERTIFICATE_EXPIRES 300 true"]);
    await stop();
  });

  it("may be the one that the OPC UA server has made, or one that is not there yet", async () => {
    const folder = join(dataDir, "opcua/server/own/certs");
    mkdirSync(folder, { recursive: true });
    const old = await serverCertificate(["localhost"], clock.nowMs() - TEN_YEARS_MS);
    writeFileSync(join(folder, "certificate.pem"), old.certificate);
    certificate = join(dataDir, "missing.pem");
    const stop = await start(true);
    await clock.settle(1_000);
    expect(registry.all().map(({ text }) => text)).toEqual([expect.stringContaining("opcua (")]);
    await stop();
  });
});
