import { createSocket } from "node:dgram";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { systemClock } from "../../../src/platform/clock.ts";
import { silentLog } from "../../../src/platform/log.ts";
import type { SyslogMessage } from "../../../src/platform/syslog/syslog-message.ts";
import { createSyslogSender } from "../../../src/platform/syslog/syslog-sender.ts";
import type { SyslogTarget } from "../../../src/platform/syslog/syslog-wire.ts";

const cleanups: Array<() => unknown> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const said = (text: string): SyslogMessage => ({
  at: "2026-01-31T18:02:11.000Z",
  severity: "notice",
  id: "command",
  fields: {},
  text,
});

function start(target: SyslogTarget) {
  const lines: string[] = [];
  const note = (_: unknown, message: string) => void lines.push(message);
  const sender = createSyslogSender({
    target,
    key: "commands.audit.syslog",
    app: "fleetgate-audit",
    clock: systemClock,
    chance: () => 0.05,
    log: { ...silentLog, info: note, warn: note, error: note },
  });
  const stopping = new AbortController();
  const ended = sender.run(stopping.signal, () => {});
  const stop = () => {
    stopping.abort();
    return ended;
  };
  cleanups.push(stop);
  return { ...sender, lines, stop, until: (look: () => unknown) => expect.poll(look, { timeout: 8_000 }) };
}

/** A syslog server over TCP, or the journal's stream, that takes down all bytes. */
async function listen(at: number | string = 0, begin: (socket: Socket) => void = () => {}) {
  const sockets = new Set<Socket>();
  let heard = "";
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    begin(socket);
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      heard += bytes.toString();
    });
  });
  await new Promise<void>((resolve) =>
    typeof at === "string" ? server.listen(at, resolve) : server.listen(at, "127.0.0.1", resolve),
  );
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  cleanups.push(close);
  return { port: (server.address() as AddressInfo).port, heard: () => heard, close };
}

const overTcp = (port: number): SyslogTarget => ({ kind: "tcp", host: "127.0.0.1", port });

it("sends each message over TCP with its length before it", async () => {
  const server = await listen();
  const sender = start(overTcp(server.port));
  sender.send(said("one\ntwo"));
  sender.send(said("ü"));
  await sender.until(() => sender.health().figures?.sent).toBe(2);
  await sender.until(server.heard).toMatch(/ü$/);
  const [, first = "", second = ""] = /^\d+ (<109>1 .*one\ntwo)\d+ (<109>1 .*ü)$/s.exec(server.heard()) ?? [];
  expect(server.heard()).toBe([first, second].map((each) => `${Buffer.byteLength(each)} ${each}`).join(""));
  expect(second).toContain('sequenceId="2"');
});

it("keeps messages while the target is away, says so once, and goes on in order", async () => {
  const first = await listen();
  const sender = start(overTcp(first.port));
  sender.send(said("-a-"));
  await sender.until(first.heard).toContain("-a-");
  await first.close();
  await sender.until(() => sender.health().state).toBe("degraded");
  sender.send(said("-b-"));
  sender.send(said("-c-"));
  await sender
    .until(() => sender.health().detail)
    .toMatch(
      /not copied to tcp:.*commands\.audit\.syslog .*nothing listens there.*; 2 lines wait; the file has all$/,
    );
  const second = await listen(first.port);
  await sender.until(second.heard).toMatch(/-b-.*-c-$/);
  expect(sender.health()).toMatchObject({ state: "up", figures: { sent: 3, lost: 0, waiting: 0 } });
  expect(sender.lines).toEqual([
    "the audit log is not copied to syslog",
    "the audit log is copied to syslog again",
  ]);
}, 20_000);

it("loses what is beyond its bound, counts it, and shows the gap", async () => {
  const server = await listen();
  await server.close();
  const sender = start(overTcp(server.port));
  for (let count = 0; count < 2_003; count += 1) sender.send(said(`-${count}-`));
  expect(sender.health().figures).toEqual({ sent: 0, lost: 3, waiting: 2_000 });
  const again = await listen(server.port);
  await sender.until(() => sender.health().figures?.sent).toBe(2_000);
  sender.send(said("-last-"));
  await sender.until(again.heard).toMatch(/sequenceId="2004"[^\n]*-last-$/);
  expect(sender.lines.filter((line) => line.startsWith("too many lines"))).toHaveLength(1);
}, 20_000);

it("sends the last messages before it ends", async () => {
  const server = await listen();
  const sender = start(overTcp(server.port));
  await sender.until(() => sender.health().state).toBe("up");
  sender.send(said("-first-"));
  await sender.until(server.heard).toContain("-first-");
  sender.send(said("-last-"));
  await sender.stop();
  await sender.until(server.heard).toMatch(/-last-$/);
});

it("sends a datagram a message over UDP, and sees that nothing listens", async () => {
  const open = async (port: number) => {
    const heard: string[] = [];
    const socket = createSocket("udp4", (bytes) => void heard.push(bytes.toString()));
    await new Promise<void>((resolve) => socket.bind(port, "127.0.0.1", resolve));
    return { heard, port: socket.address().port, close: () => socket.close() };
  };
  const first = await open(0);
  first.close();
  const sender = start({ kind: "udp", host: "localhost", port: first.port });
  sender.send(said("-a-"));
  sender.send(said("-b-"));
  await sender.until(() => sender.health().detail).toContain("nothing listens there");
  const second = await open(first.port);
  cleanups.push(second.close);
  await sender.until(() => second.heard.length).toBe(2);
  expect(second.heard[1]).toMatch(/^<109>1 .*-b-$/);
  await sender.until(() => sender.health().state).toBe("up");
}, 20_000);

it("says when the target's name cannot be resolved", async () => {
  const sender = start({ kind: "udp", host: "nobody.invalid", port: 514 });
  await sender.until(() => sender.health().detail).toContain("the name nobody.invalid cannot be resolved");
});

/** The journal ends its own side at once: it has nothing to say. */
it("writes to the stream of systemd's journal as systemd-cat does", async () => {
  const folder = mkdtempSync(join(tmpdir(), "fleetgate-journal-"));
  cleanups.push(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "stdout");
  const journal = await listen(path, (socket) => socket.end());
  const sender = start({ kind: "journald", path });
  sender.send(said("{}"));
  const header = "fleetgate-audit\n\n5\n1\n0\n0\n0\n";
  await sender.until(journal.heard).toBe(`${header}<5>{}\n`);
  sender.send(said("[]"));
  await sender.until(journal.heard).toBe(`${header}<5>{}\n<5>[]\n`);
  expect(sender.health().state).toBe("up");
  await journal.close();
  sender.send(said("-kept-"));
  await sender.until(() => sender.health().state).toBe("degraded");
  const again = await listen(path, (socket) => socket.end());
  await sender.until(again.heard).toContain("<5>-kept-\n");
}, 20_000);
