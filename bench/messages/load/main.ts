// The load service and both far ends in one process: a message's way is timed by one clock.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { sequenceNodeId } from "../floor/variables.ts";
import { type LoadReply, type LoadRequest, robotIds, type Side } from "../protocol.ts";
import { runBlock, Tally } from "./block.ts";
import { selfSigned } from "./certificate.ts";
import { LoadService } from "./service.ts";
import { Watcher } from "./watcher.ts";

const [robotCount = "1000", folder = "."] = process.argv.slice(2);
const robots = robotIds(Number(robotCount));
const newTally = () => new Tally(robots[0] ?? "");
const tally: Record<Side, Tally> = {
  floor: newTally(),
  script: newTally(),
  gateway: newTally(),
  other: newTally(),
};
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
  await watcher.watchMqtt(request.mqttPort, request.side, tally[request.side]);
  const nodes = new Map(robots.map((robot) => [robot, sequenceNodeId(robot)]));
  await watcher.watchOpcua(request.opcuaPort, nodes, tally[request.side]);
  reply({ kind: "watching", side: request.side });
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
