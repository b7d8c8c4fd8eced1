import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { type Chronicle, createChronicle } from "../support/chronicle.ts";

const binary = [
  "/usr/bin/mosquitto_sub",
  "/usr/local/bin/mosquitto_sub",
  "/opt/homebrew/bin/mosquitto_sub",
].find(existsSync);

/** Whether the foreign client is on this machine; CI installs it and must not skip. */
export const haveMosquittoSub = binary !== undefined;
if (!haveMosquittoSub) {
  if (process.env.CI) throw new Error("mosquitto_sub is not installed, and CI must run its tests");
  process.stderr.write("mosquitto_sub is not installed: its tests are skipped\n");
}

/** A running mosquitto_sub. */
export interface MosquittoSub {
  /** What it printed: a line a message, without the topic. */
  readonly lines: Chronicle<string>;
  close(): Promise<void>;
}

/** Starts mosquitto_sub, and waits until it has printed the first message. */
export async function followWithMosquitto(url: string, topic: string): Promise<MosquittoSub> {
  if (binary === undefined) throw new Error("mosquitto_sub is not installed");
  const { hostname, port } = new URL(url);
  const child = spawn(binary, ["-h", hostname, "-p", port, "-q", "1", "-t", topic]);
  const lines = createChronicle<string>((line) => line);
  createInterface(child.stdout).on("line", lines.add);
  child.stderr.on("data", (chunk: Buffer) => lines.add(`stderr: ${chunk.toString()}`));
  await lines.first("a first message", () => true);
  return {
    lines,
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill();
      await once(child, "exit");
    },
  };
}
