import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { freePorts } from "../../support/free-ports.ts";

const binary = ["/usr/sbin/mosquitto", "/usr/local/sbin/mosquitto", "/opt/homebrew/sbin/mosquitto"].find(
  existsSync,
);

/** How soon a signal is sent again that did not end it. */
const REPEAT_MS = 200;

/** Comes with the broker. */
const passwordTool = "mosquitto_passwd";

/** Whether the foreign broker is on this machine; CI installs it and must not skip. */
export const haveMosquitto = binary !== undefined;
if (!haveMosquitto) {
  if (process.env.CI) throw new Error("mosquitto is not installed, and CI must run its tests");
  process.stderr.write("mosquitto is not installed: its tests are skipped\n");
}

/** A running mosquitto. */
export interface Mosquitto {
  readonly url: string;
  stop(): Promise<void>;
  /** Freezes it, as a broker that hangs, until `thaw`. */
  freeze(): void;
  thaw(): void;
  /** Stops it as a machine that loses power would. */
  kill(): Promise<void>;
}

/**
 * Starts mosquitto on a free port. Without `acl` everybody may do everything; with it,
 * users log in with their name as their password.
 *
 * @param more lines of its configuration
 */
export async function startMosquitto(
  acl?: { readonly rules: string; readonly users: readonly string[] },
  more: readonly string[] = [],
): Promise<Mosquitto> {
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-mosquitto-"));
  const port = await freePorts(1);
  const lines = [`listener ${port} 127.0.0.1`, "set_tcp_nodelay true", "persistence false", ...more];
  if (acl === undefined) lines.push("allow_anonymous true");
  else {
    await writeFile(join(folder, "acl"), acl.rules, { mode: 0o644 });
    await writePasswords(join(folder, "passwords"), new Map(acl.users.map((user) => [user, user])));
    lines.push(
      "allow_anonymous false",
      `acl_file ${folder}/acl`,
      `password_file ${folder}/passwords`,
      "user root",
    );
  }
  const child = await runMosquitto(join(folder, "conf"), `${lines.join("\n")}\n`);
  const end = async (signal: NodeJS.Signals) => {
    await endMosquitto(child, signal);
    await rm(folder, { recursive: true, force: true });
  };
  return {
    url: `mqtt://127.0.0.1:${port}`,
    freeze: () => void child.kill("SIGSTOP"),
    thaw: () => void child.kill("SIGCONT"),
    stop: () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
  };
}

/** Writes the file of users and passwords as mosquitto wants it. */
export async function writePasswords(path: string, users: ReadonlyMap<string, string>): Promise<void> {
  const lines = [...users].map(([user, password]) => `${user}:${password}\n`);
  await writeFile(path, lines.join(""), { mode: 0o600 });
  const hashed = spawn(passwordTool, ["-U", path]);
  await once(hashed, "exit");
}

/** Starts mosquitto by a configuration file, written to `path`; resolves when it listens. */
export async function runMosquitto(path: string, configuration: string) {
  if (binary === undefined) throw new Error("mosquitto is not installed");
  await writeFile(path, configuration);
  const child = spawn(binary, ["-c", path], { stdio: ["ignore", "ignore", "pipe"] });
  await listening(child);
  return child;
}

/**
 * Ends it with this signal. The signal is repeated: mosquitto says that it is running before it begins its
 * loop, and forgets a SIGTERM that comes between.
 */
export async function endMosquitto(child: ChildProcess, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill(signal);
  const repeating = setInterval(() => child.kill(signal), REPEAT_MS);
  await ended;
  clearInterval(repeating);
}

/** mosquitto says that it is running when its listener is open. */
async function listening(child: ChildProcessByStdio<null, null, Readable>): Promise<void> {
  const said: string[] = [];
  await new Promise<void>((resolve, reject) => {
    createInterface(child.stderr).on("line", (line) => {
      said.push(line);
      if (line.endsWith(" running")) resolve();
    });
    child.once("close", (code) => reject(new Error(`mosquitto ended with ${code}: ${said.join("; ")}`)));
  });
}
