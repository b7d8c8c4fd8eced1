import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { endPrograms, fleetgate, newFolder, type Ready, ready } from "../cli/program.ts";
import { type Chronicle, createChronicle } from "../support/chronicle.ts";
import { freePorts } from "../support/free-ports.ts";
import { type CommandLine, commandLines } from "./page.ts";

/** A command line of a page that was started. */
export interface Started {
  /** What it printed to standard output, a line an entry. */
  readonly out: Chronicle<string>;
  /** Its exit code, when it has ended and all that it printed was read; null: ended by a signal. */
  readonly ended: Promise<number | null>;
  /** What it printed to standard error, for a failure. */
  complaint(): string;
  /** Presses Ctrl-C. */
  stop(): Promise<void>;
}

/** A shell in a folder as the pages expect it: a checkout in which the demo runs. */
export interface PageShell {
  readonly demo: Ready;
  /** Starts a command line, with the demo's ports, paths and robot in place of the page's. */
  start(line: CommandLine): Started;
  close(): Promise<void>;
}

const PATIENCE_MS = 45_000;
const usualPorts = ["7443", "7444", "1883", "4840", "8080"];

/** Programs that stand before those of the machine: they add what differs from a plant, and nothing else. */
const shims = (config: string, mqttPort: string, simulatorPort: number) => ({
  fleetgate: [
    `case "$1 $*" in simulate*) set -- "$@" --base-port ${simulatorPort} ;;`,
    `hold*|call*|status*|robots*|alarms*|tail*|log-level*|record*) case "$*" in *--config*|*--socket*|*--list*) ;; *) set -- "$@" --config ${config} ;; esac ;; esac`,
    `exec ${process.execPath} ${resolve("dist/main.js")} "$@"`,
  ],
  sudo: ['exec "$@"'],
  mosquitto_sub: [`exec "$(which -a mosquitto_sub | sed -n 2p)" -p ${mqttPort} "$@"`],
  mosquitto_pub: [`exec "$(which -a mosquitto_pub | sed -n 2p)" -p ${mqttPort} "$@"`],
  mosquitto_rr: [`exec "$(which -a mosquitto_rr | sed -n 2p)" -p ${mqttPort} "$@"`],
});

/** Writes them to a folder, which is to be the first of PATH. */
export function writeShims(bin: string, written: Readonly<Record<string, readonly string[]>>): void {
  mkdirSync(bin);
  for (const [name, lines] of Object.entries(written)) {
    writeFileSync(join(bin, name), ["#!/bin/sh", ...lines, ""].join("\n"));
    chmodSync(join(bin, name), 0o755);
  }
}

export async function openPageShell(): Promise<PageShell> {
  const folder = newFolder();
  const base = await freePorts(usualPorts.length);
  const ports = new Map(usualPorts.map((port, at) => [port, String(base + at)]));
  const state = join(folder, ".fleetgate", "demo");
  const config = join(state, "gateway.yaml");
  for (const name of ["dist", "node_modules", "package.json"]) symlinkSync(resolve(name), join(folder, name));
  symlinkSync(resolve("config/scenarios/plant.yaml"), join(folder, "plant.yaml"));
  mkdirSync(state, { recursive: true });
  symlinkSync(state, join(folder, ".fleetgate", `simulate-${base}`));

  const bin = join(folder, "bin");
  writeShims(bin, shims(config, String(base + 2), await freePorts(2)));

  const asHere = (line: string) =>
    line
      .replace(/\b(?:7443|7444|1883|4840|8080)\b/g, (port) => ports.get(port) ?? port)
      .replace("/etc/fleetgate/fleetgate.yaml", config)
      .replace("--config fleetgate.yaml", `--config ${config}`)
      .replace("/var/lib/fleetgate", join(state, "gateway"))
      .replace("ROBOT", "cart-01")
      .replace("OPERATION '{…}' --config FILE", `GetOnlineRobots '{}' --config ${config}`);
  /** What a page has its reader type before a line that needs the service's certificate. */
  const before = (page: string) => [
    ...commandLines(page).flatMap(({ line }) => (/^cd |^\w+\(\)/.test(line) ? [asHere(line)] : [])),
    `faults_over() { curl -s --cacert ca.pem -X DELETE https://localhost:${base + 1}/simulator/faults; }`,
  ];

  const options = ["--json", "--sparkplug", "--base-port", String(base), "--data", state];
  const demo = await ready(fleetgate(folder, "demo", ...options));
  const open = new Set<Started>();
  return {
    demo,
    start({ page, line }) {
      const needsCertificate = /ca\.pem|^faults?|^happen/.test(line);
      const text = [...(needsCertificate ? before(page) : []), asHere(line)].join("\n");
      const started = startShell(text, folder, bin);
      open.add(started);
      void started.ended.then(() => open.delete(started));
      return started;
    },
    async close() {
      for (const started of open) await started.stop();
      await endPrograms();
    },
  };
}

/** A line that follows topics, so that it tells when it is subscribed. */
export const tellingSubscription = (line: string) =>
  line.replace(/^mosquitto_sub /, "stdbuf -oL mosquitto_sub -d ");

/** Resolves when a line that follows topics is subscribed: what is published before, it may miss. */
export async function subscribed({ out }: Started): Promise<void> {
  await out.first("a subscription", (printed) => printed.includes("received SUBACK"));
}

/** Starts a line in a folder, with the programs of `bin` before those of the machine. */
export function startShell(text: string, cwd: string, bin: string): Started {
  const child = spawn("bash", ["-c", text], {
    cwd,
    env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own, so that Ctrl-C reaches what the shell has started.
    detached: true,
  });
  const { pid } = child;
  if (pid === undefined) throw new Error("bash could not be started");
  const out = createChronicle<string>((line) => line, PATIENCE_MS);
  const complaints: string[] = [];
  createInterface(child.stdout).on("line", out.add);
  createInterface(child.stderr).on("line", (line) => complaints.push(line));
  const ended = new Promise<number | null>((settle) => child.once("close", settle));
  return {
    out,
    ended,
    complaint: () => complaints.join("\n"),
    async stop() {
      process.kill(-pid, "SIGINT");
      await ended;
    },
  };
}
