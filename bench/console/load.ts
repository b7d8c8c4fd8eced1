// The fleet behind the console: robots that move, and mission messages at a rate.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { selfSigned } from "../messages/load/certificate.ts";
import { LoadService } from "../messages/load/service.ts";
import { robotIds } from "../messages/protocol.ts";
import { createPlaces } from "./places.ts";
import type { LoadReply, LoadRequest, SentMessage } from "./protocol.ts";

const SIDE = "gateway";
const TURN_MS = 5;

const [robotCount = "1000", folder = "."] = process.argv.slice(2);
const robots = robotIds(Number(robotCount));
const service = new LoadService(createPlaces(robots));
let rate = { messagesPerSecond: 0, fromMs: 0, messagesBefore: 0 };
let messages = 0;
let sent: SentMessage[] = [];

function sendDue(): void {
  const { messagesPerSecond, fromMs, messagesBefore } = rate;
  const due = messagesBefore + (messagesPerSecond * (performance.now() - fromMs)) / 1_000;
  while (messages < due) {
    const robot = robots[messages % robots.length] ?? "";
    messages += 1;
    // The gateway renews its subscriptions; a robot between two of them is told nothing.
    const sequence = service.send(SIDE, robot);
    if (robot === robots[0] && sequence >= 0) sent.push({ sequence, atMs: Date.now() });
  }
}

function answer(request: LoadRequest): LoadReply {
  if (request.kind === "rate") {
    const { messagesPerSecond } = request;
    rate = { messagesPerSecond, fromMs: performance.now(), messagesBefore: messages };
    return { kind: "rate", messages };
  }
  const told = sent;
  sent = [];
  return { kind: "sent", sent: told };
}

process.on("message", (request: LoadRequest) => process.send?.(answer(request)));
const keys = await selfSigned();
const caPath = join(folder, `console-ca-${robotCount}.pem`);
writeFileSync(caPath, keys.cert);
const address = { ...(await service.listen(keys)), caPath };
setInterval(sendDue, TURN_MS);
process.send?.({ kind: "listening", address } satisfies LoadReply);
