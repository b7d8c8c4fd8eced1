import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { createJournalStream } from "../../src/platform/journal-stream.ts";
import { silentLog } from "../../src/platform/log.ts";
import { createManualClock } from "../support/manual-clock.ts";

const HEADER = "fleetgate-audit\n\n5\n1\n0\n0\n0\n";
const cleanups: Array<() => unknown> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** The journal's stream, which ends its own side at once, and takes down all bytes. */
async function listen(path: string) {
  const sockets = new Set<Socket>();
  let received = "";
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.end();
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      received += bytes.toString();
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  cleanups.push(close);
  return { received: () => received, close };
}

function open() {
  const folder = mkdtempSync(join(tmpdir(), "fleetgate-journal-"));
  cleanups.push(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "stdout");
  const clock = createManualClock();
  const lines: string[] = [];
  const note = (_: unknown, message: string) => void lines.push(message);
  const log = { ...silentLog, info: note, warn: note, error: note };
  const journal = createJournalStream({ path, identifier: "fleetgate-audit", clock, log });
  const stopping = new AbortController();
  const start = () => {
    const ended = journal.run(stopping.signal, () => {});
    cleanups.push(() => stop());
    const stop = () => {
      stopping.abort();
      return ended;
    };
    return stop;
  };
  return { path, clock, journal, lines, start };
}

it("writes to the stream of systemd's journal as systemd-cat does", async () => {
  const { path, journal, start } = open();
  const server = await listen(path);
  start();
  journal.send("notice", "{}");
  await expect.poll(server.received).toBe(`${HEADER}<5>{}\n`);
  journal.send("warning", "[]");
  await expect.poll(server.received).toBe(`${HEADER}<5>{}\n<4>[]\n`);
  expect(journal.health()).toMatchObject({ state: "up", figures: { sent: 2, lost: 0, waiting: 0 } });
});

it("keeps lines while the journal is away, says so once, and goes on in order", async () => {
  const { path, clock, journal, lines, start } = open();
  start();
  await expect.poll(() => journal.health().state).toBe("degraded");
  journal.send("notice", "-a-");
  journal.send("notice", "-b-");
  expect(journal.health().detail).toMatch(
    /not copied to journald: .*ENOENT.*; 2 lines wait; the file has all$/,
  );
  const first = await listen(path);
  clock.advance(5_000);
  await expect.poll(first.received).toBe(`${HEADER}<5>-a-\n<5>-b-\n`);
  await expect.poll(() => journal.health().figures).toEqual({ sent: 2, lost: 0, waiting: 0 });
  await first.close();
  journal.send("notice", "-kept-");
  await expect.poll(() => journal.health().state).toBe("degraded");
  const second = await listen(path);
  clock.advance(5_000);
  await expect.poll(second.received).toBe(`${HEADER}<5>-kept-\n`);
  expect(lines).toEqual([
    "the audit log is not copied to journald",
    "the audit log is copied to journald again",
    "the audit log is not copied to journald",
    "the audit log is copied to journald again",
  ]);
});

it("loses what is beyond its bound, and counts it", async () => {
  const { journal, lines, start } = open();
  for (let count = 0; count < 2_003; count += 1) journal.send("notice", `-${count}-`);
  const stop = start();
  await expect.poll(() => journal.health().detail).toContain("2000 lines wait, 3 were lost since the start");
  await stop();
  expect(lines.filter((line) => line.startsWith("too many lines"))).toHaveLength(1);
  expect(lines.at(-1)).toBe("lines were not copied to journald");
});

it("sends the last lines before it ends", async () => {
  const { path, journal, start } = open();
  const server = await listen(path);
  const stop = start();
  journal.send("notice", "-first-");
  await expect.poll(server.received).toContain("-first-");
  journal.send("notice", "-last-");
  await stop();
  await expect.poll(server.received).toMatch(/-last-\n$/);
  expect(journal.health().figures).toEqual({ sent: 2, lost: 0, waiting: 0 });
});
