// A service that changes values at a rate, and a client of the gateway that subscribes to them. They are one
// process, so that what was sent and what came are counted by one.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { selfSigned } from "../messages/load/certificate.ts";
import { LoadService } from "../messages/load/service.ts";
import { robotIds } from "../messages/protocol.ts";
import { type Items, subscribe } from "./items.ts";
import type { ChangesReply, ChangesRequest, ChangesResult } from "./protocol.ts";

const TICK_MS = 5;
/** What was sent last is on its way so long. */
const SETTLE_MS = 3_000;
const SIDE = "gateway";

const [robotCount = "1000", folder = "."] = process.argv.slice(2);
const robots = robotIds(Number(robotCount));
const service = new LoadService();
let items: Items | null = null;
let turn = 0;

/**
 * Robots in turn. One whose last message has not come is passed over: on a machine that stalls, the next
 * would rightly take its place.
 */
function sendNext(): boolean {
  for (let passed = 0; passed < robots.length; passed += 1) {
    const robot = robots[turn % robots.length] ?? "";
    turn += 1;
    if (items !== null && !items.isSeen(robot)) continue;
    if (service.send(SIDE, robot) < 0) throw new Error(`nobody is subscribed to ${robot}`);
    items?.noteSent(robot);
    return true;
  }
  return false;
}

async function send(messagesPerSecond: number, seconds: number): Promise<ChangesResult> {
  items?.reset();
  const startedMs = performance.now();
  const total = messagesPerSecond * seconds;
  const elapsedMs = () => performance.now() - startedMs;
  let messages = 0;
  while (messages < total && elapsedMs() < 2_000 * seconds) {
    const due = Math.min(total, (elapsedMs() / 1_000) * messagesPerSecond);
    while (messages < due && sendNext()) messages += 1;
    await pause(TICK_MS);
  }
  const sentSeconds = elapsedMs() / 1_000;
  const endMs = performance.now() + SETTLE_MS;
  while (items !== null && items.delivered < items.changes && performance.now() < endMs) await pause(TICK_MS);
  const { changes, delivered } = items ?? { changes: 0, delivered: 0 };
  return { messages, seconds: sentSeconds, changes, delivered };
}

async function serve(request: ChangesRequest): Promise<ChangesReply> {
  if (request.kind === "send") {
    return { kind: "sent", result: await send(request.messagesPerSecond, request.seconds) };
  }
  if (request.kind === "unsubscribe") {
    await items?.close();
    items = null;
    return { kind: "unsubscribed" };
  }
  while (!service.subscribed(SIDE, robots)) await pause(TICK_MS);
  items = await subscribe(request.port, robots);
  return { kind: "subscribed", items: items.count, samplingMs: items.samplingMs };
}

process.on("message", (request: ChangesRequest) => {
  serve(request).then(
    (reply) => process.send?.(reply),
    (error: unknown) => process.send?.({ kind: "failed", message: String(error) } satisfies ChangesReply),
  );
});
const keys = await selfSigned();
const caPath = join(folder, "changes-ca.pem");
writeFileSync(caPath, keys.cert);
const address = { ...(await service.listen(keys)), caPath };
process.send?.({ kind: "listening", address } satisfies ChangesReply);
