// Compares the gateway with the floor in one run: both stay up, the load goes to one at a time, in
// blocks A B B A, so that a drift of the machine falls on both.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Measured, missing, missingByBlock, report, table } from "./figures.ts";
import { gatewayConfig } from "./gateway-config.ts";
import { Child } from "./process.ts";
import type { Block, LoadAddress, LoadReply, Side } from "./protocol.ts";

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    robots: { type: "string", default: "1000" },
    rate: { type: "string", default: "4000" },
  },
});
const here = dirname(fileURLToPath(import.meta.url));
const gatewayScript = join(here, "..", "..", "dist", "main.js");
const robots = Number(options.robots);
const rounds = options.quick ? 1 : 4;
const pacedSeconds = options.quick ? 5 : 10;
const saturatedSeconds = options.quick ? 2 : 4;

async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "fleetgate-bench-"));
  const children: Child[] = [];
  const start = (name: string, script: string, args: readonly string[]) => {
    const child = new Child(name, script, args);
    children.push(child);
    return child;
  };
  try {
    const measured = await measure(folder, start);
    const result = report(robots, measured);
    console.log(options.json ? JSON.stringify(result) : table(result));
    if (missing(measured) > 0) {
      console.error(
        `${result.missing} messages did not arrive: the figures mean nothing\n${missingByBlock(measured)}`,
      );
      process.exitCode = 1;
    }
  } finally {
    await Promise.all(children.map((child) => child.end()));
    rmSync(folder, { recursive: true, force: true });
  }
}

type Start = (name: string, script: string, args: readonly string[]) => Child;

async function measure(folder: string, start: Start): Promise<Measured[]> {
  const broker = start("broker", join(here, "broker.js"), []);
  const { port: mqttPort } = await broker.next<{ port: number }>();
  const load = start("load", join(here, "load", "main.js"), [String(robots), folder]);
  const { address } = await expectReply(load, "listening");
  const ports = { floor: await freePort(), gateway: await freePort() };
  const sides: Record<Side, Child> = {
    floor: start("floor", join(here, "floor", "main.js"), floorArgs(address, mqttPort, ports.floor)),
    gateway: start("gateway", gatewayScript, [
      "run",
      "--config",
      await writeConfig(folder, address, mqttPort, ports.gateway),
    ]),
  };
  for (const side of ["floor", "gateway"] as const) {
    load.send({ kind: "watch", side, opcuaPort: ports[side], mqttPort });
    await expectReply(load, "watching");
  }
  const measured: Measured[] = [];
  for (const block of [...warmUp(), ...plan()]) {
    const done = await measureBlock(load, sides[block.side], block);
    if (block.warm !== true) measured.push(done);
  }
  return measured;
}

type Planned = Block & { readonly warm?: boolean };

function warmUp(): Planned[] {
  return (["floor", "gateway"] as const).map((side) => ({
    kind: "paced",
    side,
    messagesPerSecond: Number(options.rate),
    seconds: pacedSeconds / 2,
    warm: true,
  }));
}

function plan(): Planned[] {
  const order: Side[] = ["floor", "gateway", "gateway", "floor"];
  const paced = (side: Side): Block => ({
    kind: "paced",
    side,
    messagesPerSecond: Number(options.rate),
    seconds: pacedSeconds,
  });
  const saturated = (side: Side): Block => ({ kind: "saturated", side, seconds: saturatedSeconds });
  return Array.from({ length: rounds }, () => [...order.map(paced), ...order.map(saturated)]).flat();
}

async function measureBlock(load: Child, side: Child, block: Block): Promise<Measured> {
  const before = side.cpuMicros();
  load.send({ kind: "block", block });
  const { result } = await expectReply(load, "result");
  return {
    kind: block.kind,
    side: block.side,
    result,
    cpuMicros: side.cpuMicros() - before,
    rssAnonMb: side.rssAnonMb(),
  };
}

async function expectReply<K extends LoadReply["kind"]>(
  load: Child,
  kind: K,
): Promise<Extract<LoadReply, { kind: K }>> {
  const reply = await load.next<LoadReply>();
  if (reply.kind === "failed") throw new Error(`load: ${reply.message}`);
  if (reply.kind !== kind) throw new Error(`load answered ${reply.kind} instead of ${kind}`);
  return reply as Extract<LoadReply, { kind: K }>;
}

function floorArgs(address: LoadAddress, mqttPort: number, opcuaPort: number): string[] {
  return [robots, address.grpcPort, address.httpsPort, address.caPath, mqttPort, opcuaPort].map(String);
}

async function writeConfig(
  folder: string,
  address: LoadAddress,
  mqttPort: number,
  opcuaPort: number,
): Promise<string> {
  const path = join(folder, "gateway.yaml");
  const credentials = join(folder, "credentials.json");
  writeFileSync(credentials, JSON.stringify({ api_key: "gateway", scope: "bench", secret: "bench" }), {
    mode: 0o600,
  });
  writeFileSync(path, gatewayConfig({ folder, address, credentials, mqttPort, opcuaPort, robots }));
  return path;
}

/** A port that was free a moment ago. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

await run();
