import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";

const haveRsyslog = spawnSync("rsyslogd", ["-v"]).status === 0;
if (!haveRsyslog && process.env.CI) throw new Error("rsyslog is not installed: CI needs it");

const cleanups: Array<() => unknown> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test.runIf(haveRsyslog)(
  "rsyslog sends the audit log as the page says, also what comes after a new file was begun",
  async () => {
    const page = readFileSync("docs/security-and-certificates.md", "utf8");
    const recipe = /```text\n(module\(load="imfile"\)[^`]*)```/.exec(page)?.[1] ?? "";
    const folder = mkdtempSync(join(tmpdir(), "fleetgate-rsyslog-"));
    cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
    let received = "";
    const server = createServer((socket) => {
      cleanups.push(() => socket.destroy());
      socket.on("error", () => {});
      socket.on("data", (bytes) => {
        received += bytes.toString();
      });
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    cleanups.push(() => server.close());
    const file = join(folder, "audit.jsonl");
    const own = recipe
      .replace("/var/lib/fleetgate/audit/audit.jsonl", file)
      .replace('target="logs.example.com"', 'target="127.0.0.1"')
      .replace('port="601"', `port="${(server.address() as AddressInfo).port}"`);
    expect(own).not.toBe(recipe);
    const config = join(folder, "rsyslog.conf");
    writeFileSync(config, `global(workDirectory="${folder}")\n${own}`);
    writeFileSync(file, '{"event":"one"}\n');

    const daemon = spawn("rsyslogd", ["-n", "-f", config, "-i", join(folder, "pid")], { stdio: "pipe" });
    const gone = once(daemon, "close");
    let said = "";
    daemon.stderr.on("data", (bytes) => {
      said += bytes;
    });
    cleanups.push(async () => {
      daemon.kill("SIGKILL");
      await gone;
    });
    const hears = (text: string) => expect.poll(() => received || said, { timeout: 20_000 }).toContain(text);
    await hears('fleetgate-audit - - - {"event":"one"}');
    appendFileSync(file, '{"event":"two"}\n');
    await hears('{"event":"two"}');
    renameSync(file, join(folder, "audit.1.jsonl"));
    writeFileSync(file, '{"event":"three"}\n');
    await hears('{"event":"three"}');
    const [length = "", first = ""] = /^(\d+) (.*?"one"\})/.exec(received)?.slice(1) ?? [];
    expect(first).toMatch(/^<173>1 \S+T\S+ \S+ fleetgate-audit - - - \{/);
    expect(Buffer.byteLength(first)).toBe(Number(length));
  },
  60_000,
);
