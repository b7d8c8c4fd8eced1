// The load service and both far ends in one process: a message's way is timed by one clock.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { sequenceNodeId } from "../floor/variables.ts";
import {
  forSides,
  isOnJson,
  isOnSparkplug,
  type LoadReply,
  type LoadRequest,
  robotIds,
} from "../protocol.ts";
import { runBlock, Tally } from "./block.ts";
import { selfSigned } from "./certificate.ts";
import { LoadService } from "./service.ts";
import { Watcher } from "./watcher.ts";

const [robotCount = "1000", folder = "."] = process.argv.slice(2);
const robots = robotIds(Number(robotCount));
const tally = forSides(() => new Tally(robots[0] ?? ""));
const service = new LoadService();
const watchers: Watcher[] = [];

function reply(message: LoadReply): void {
  process.send?.(message);
}

async function listen(): Promise<void> {
  const keys = await selfSigned();
  const caPath = join(folder, "ca.pem");
  writeFileSync(caPath, keys.cert);
  reply({ kind: "listening", address: { ...(await service.listen(keys)), caPath } });
}

async function watch(request: Extract<LoadRequest, { kind: "watch" }>): Promise<void> {
  while (!service.subscribed(request.side, robots)) await new Promise((resolve) => setTimeout(resolve, 50));
  const watcher = new Watcher();
  watchers.push(watcher);
  const { side, mqttPort } = request;
  if (isOnJson(side)) await watcher.watchJson(mqttPort, side, tally[side]);
  if (isOnSparkplug(side)) await watcher.watchSparkplug(mqttPort, side, tally[side]);
  const nodes = new Map(robots.map((robot) => [robot, sequenceNodeId(robot)]));
  await watcher.watchOpcua(request.opcuaPort, nodes, tally[side]);
  reply({ kind: "watching", side });
}

async function serve(request: LoadRequest): Promise<void> {
  if (request.kind === "watch") return watch(request);
  const result = await runBlock(request.block, robots, service, tally[request.block.side]);
  reply({ kind: "result", result });
}

process.on("message", (request: LoadRequest) => {
  serve(request).catch((error: unknown) => reply({ kind: "failed", message: String(error) }));
});
process.once("SIGTERM", () => {
  Promise.all(watchers.map((watcher) => watcher.close())).finally(() => {
    service.close();
    process.exit(0);
  });
});
await listen();
