import { join } from "node:path";
import type { Child } from "../child.ts";
import { benchFolder, REPLY_TIMEOUT_MS, type SectionRun, startBroker } from "../section-run.ts";
import type { Block, BlockResult, LoadAddress, LoadReply, LoadRequest, Side } from "./protocol.ts";

/** The service that sends, and the clients of MQTT and OPC UA that see what comes of it. */
export interface Load {
  readonly address: LoadAddress;
  /** Of the broker that its client of MQTT is connected to. */
  readonly mqttPort: number;
  /** Resolves when both clients follow this side, and it is subscribed to every robot. */
  watch(side: Side, opcuaPort: number): Promise<void>;
  /** Sends one block, and resolves when all of it was seen, or will not be. */
  run(block: Block): Promise<BlockResult>;
}

export async function openLoad(run: SectionRun, robots: number): Promise<Load> {
  const mqttPort = await startBroker(run);
  const script = join(benchFolder, "messages", "load", "main.js");
  const load = run.start("load", script, [String(robots), run.folder]);
  const ask = (request: LoadRequest) => load.send(request);
  const { address } = await expectReply(load, "listening");
  return {
    address,
    mqttPort,
    async watch(side, opcuaPort) {
      ask({ kind: "watch", side, opcuaPort, mqttPort });
      await expectReply(load, "watching");
    },
    async run(block) {
      ask({ kind: "block", block });
      return (await expectReply(load, "result")).result;
    },
  };
}

async function expectReply<K extends LoadReply["kind"]>(
  load: Child,
  kind: K,
): Promise<Extract<LoadReply, { kind: K }>> {
  const reply = await load.next<LoadReply>(REPLY_TIMEOUT_MS);
  if (reply.kind === "failed") throw new Error(`load: ${reply.message}`);
  if (reply.kind !== kind) throw new Error(`load answered ${reply.kind} instead of ${kind}`);
  return reply as Extract<LoadReply, { kind: K }>;
}
