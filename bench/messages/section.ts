// The gateway against the floor: both stay up, the load goes to one at a time, in blocks A B B A, so
// that a drift of the machine falls on both.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Child } from "../child.ts";
import { startGateway } from "../gateway.ts";
import { benchFolder, freePorts, type House, PATIENCE_MS, pause, startBroker } from "../house.ts";
import { atMost, type Findings } from "../report.ts";
import { type Measured, messageFigures, messageTable, missingByBlock, ratiosOf } from "./figures.ts";
import {
  type Block,
  type LoadAddress,
  type LoadReply,
  missionTopic,
  robotIds,
  type Side,
  sides,
} from "./protocol.ts";

/** What can be chosen on the command line. */
export interface MessageWishes {
  readonly robots: number;
  /** Messages a second in paced blocks. */
  readonly rate: number;
  readonly quick: boolean;
}

const MOST_CPU_RATIO = 1.4;
const SETTLE_MS = 1_000;

export async function measureMessages(house: House, wishes: MessageWishes): Promise<Findings> {
  const rounds = wishes.quick ? 1 : 4;
  const { load, running } = await open(house, wishes.robots);
  const idle = await idlePercent(running, wishes.quick ? 2 : 20);
  const warm = await runAll(load, running, warmUp(wishes));
  const measured = await runAll(load, running, Array.from({ length: rounds }, () => plan(wishes)).flat());
  const figures = messageFigures(wishes.robots, measured, idle);
  const ratios = ratiosOf(figures);
  const faults = [...sameContent(warm)];
  if (figures.missing > 0) {
    faults.push(`${figures.missing} messages did not arrive\n${missingByBlock(measured)}`);
  }
  return {
    figures,
    ratios,
    table: messageTable(figures, ratios),
    reach: [atMost("CPU of the gateway ÷ of the floor", ratios.cpu, MOST_CPU_RATIO)],
    faults,
  };
}

async function open(
  house: House,
  robots: number,
): Promise<{ readonly load: Child; readonly running: Record<Side, Child> }> {
  const mqttPort = await startBroker(house);
  const load = house.start("load", join(benchFolder, "messages", "load", "main.js"), [
    String(robots),
    house.folder,
  ]);
  const { address } = await expectReply(load, "listening");
  const floorPort = await freePorts();
  const floor = house.start(
    "floor",
    join(benchFolder, "messages", "floor", "main.js"),
    [robots, address.grpcPort, address.httpsPort, address.caPath, mqttPort, floorPort].map(String),
  );
  const gateway = await startGateway(house, {
    id: "gateway",
    fleet: fleet(house, address, robots),
    mqttPort,
  });
  const ports: Record<Side, number> = { floor: floorPort, gateway: gateway.opcuaPort };
  for (const side of sides) {
    load.send({ kind: "watch", side, opcuaPort: ports[side], mqttPort });
    await expectReply(load, "watching");
  }
  return { load, running: { floor, gateway: gateway.child } };
}

/** The gateway's own defaults, but for the polls that the load service does not answer. */
function fleet(house: House, address: LoadAddress, count: number): object {
  const robots = robotIds(count);
  const credentials = join(house.folder, "credentials.json");
  writeFileSync(credentials, JSON.stringify({ api_key: "gateway", scope: "bench", secret: "bench" }), {
    mode: 0o600,
  });
  return {
    grpc: { address: `localhost:${address.grpcPort}` },
    https: `https://localhost:${address.httpsPort}`,
    credentials,
    ca: address.caPath,
    robots,
    families: Object.fromEntries(robots.map((robot) => [robot, "serve"])),
    times: { rosterPollMs: null, taskChainPollMs: null },
  };
}

/** What each side costs while no message comes, at the same time. */
async function idlePercent(
  running: Readonly<Record<Side, Child>>,
  seconds: number,
): Promise<Record<Side, number>> {
  await pause(SETTLE_MS);
  const before = { floor: running.floor.cpuMicros(), gateway: running.gateway.cpuMicros() };
  await pause(seconds * 1000);
  const share = (side: Side) => ((running[side].cpuMicros() - before[side]) / 1e6 / seconds) * 100;
  return { floor: share("floor"), gateway: share("gateway") };
}

function pacedSeconds({ quick }: MessageWishes): number {
  return quick ? 4 : 10;
}

function warmUp(wishes: MessageWishes): Block[] {
  return sides.map((side) => ({
    kind: "paced",
    side,
    messagesPerSecond: wishes.rate,
    seconds: pacedSeconds(wishes) / 2,
  }));
}

function plan(wishes: MessageWishes): Block[] {
  const order: Side[] = ["floor", "gateway", "gateway", "floor"];
  const paced = (side: Side): Block => ({
    kind: "paced",
    side,
    messagesPerSecond: wishes.rate,
    seconds: pacedSeconds(wishes),
  });
  const saturated = (side: Side): Block => ({ kind: "saturated", side, seconds: wishes.quick ? 2 : 4 });
  return [...order.map(paced), ...order.map(saturated)];
}

async function runAll(
  load: Child,
  running: Readonly<Record<Side, Child>>,
  blocks: readonly Block[],
): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const block of blocks) {
    const child = running[block.side];
    const startedMs = performance.now();
    const before = child.cpuMicros();
    load.send({ kind: "block", block });
    const { result } = await expectReply(load, "result");
    measured.push({
      kind: block.kind,
      side: block.side,
      result,
      cpuMicros: child.cpuMicros() - before,
      wallSeconds: (performance.now() - startedMs) / 1000,
      rssAnonMb: child.rssAnonMb(),
    });
  }
  return measured;
}

/** Both sides were sent the same after the warm-up, so both must have published the same state, but for its time. */
function sameContent(warm: readonly Measured[]): string[] {
  const [first, second] = warm.map(({ result }) => stateOf(result.specimen));
  if (first !== undefined && first === second) return [];
  return [`the sides publish different states on ${missionTopic("gateway", "…")}:\n  ${first}\n  ${second}`];
}

function stateOf(payload: string): string {
  if (payload === "") return "nothing";
  const { state } = JSON.parse(payload) as { readonly state: { readonly metadata: { timestamp?: string } } };
  delete state.metadata.timestamp;
  return JSON.stringify(state);
}

async function expectReply<K extends LoadReply["kind"]>(
  load: Child,
  kind: K,
): Promise<Extract<LoadReply, { kind: K }>> {
  const reply = await load.next<LoadReply>(PATIENCE_MS);
  if (reply.kind === "failed") throw new Error(`load: ${reply.message}`);
  if (reply.kind !== kind) throw new Error(`load answered ${reply.kind} instead of ${kind}`);
  return reply as Extract<LoadReply, { kind: K }>;
}
