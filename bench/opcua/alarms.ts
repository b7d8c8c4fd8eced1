// A service whose robots run low, and an alarm list that shows it. They are one process, so that what was
// sent and what is shown are compared by one.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { selfSigned } from "../messages/load/certificate.ts";
import { LoadService } from "../messages/load/service.ts";
import { robotIds } from "../messages/protocol.ts";
import { type AlarmList, openAlarmList } from "./alarm-list.ts";
import type { AlarmsReply, AlarmsRequest } from "./protocol.ts";

const SIDE = "gateway";
const TICK_MS = 5;
const SETTLE_MS = 5_000;
/** Below the limit of BATTERY_LOW, which is raised and returns at once, and above it. */
const LOW_PERCENT = 16;
const GOOD_PERCENT = 60;

const [robotCount = "500", folder = "."] = process.argv.slice(2);
const robots = robotIds(Number(robotCount));
const service = new LoadService();
const charges = new Map<string, number>();
let list: AlarmList | null = null;

function send(robot: string, percent: number): void {
  charges.set(robot, percent);
  service.sendCharge(SIDE, robot, percent);
}

/** The robots in turn, each from one of the two states to the other. */
async function change(changes: number, seconds: number): Promise<void> {
  const startedMs = performance.now();
  for (let sent = 0; sent < changes; ) {
    const due = Math.min(changes, ((performance.now() - startedMs) / 1_000 / seconds) * changes);
    for (; sent < due; sent += 1) {
      const robot = robots[sent % robots.length] ?? "";
      send(robot, charges.get(robot) === LOW_PERCENT ? GOOD_PERCENT : LOW_PERCENT);
    }
    await pause(TICK_MS);
  }
}

/** Robots whose newest state the list does not show, after a time in which it should. */
async function notShown(shown: AlarmList): Promise<number> {
  const wrong = () =>
    robots.filter((robot) => shown.isActive(robot) !== (charges.get(robot) === LOW_PERCENT)).length;
  const endMs = performance.now() + SETTLE_MS;
  while (wrong() > 0 && performance.now() < endMs) await pause(TICK_MS);
  return wrong();
}

async function serve(request: AlarmsRequest): Promise<AlarmsReply> {
  switch (request.kind) {
    case "raise":
      for (const robot of robots) send(robot, LOW_PERCENT);
      return { kind: "raised" };
    case "open":
      list = await openAlarmList(request.port);
      return { kind: "opened" };
    case "refresh":
      if (list === null) throw new Error("no alarm list is open");
      return { kind: "refreshed", ...(await list.refresh()) };
    case "change": {
      if (list === null) throw new Error("no alarm list is open");
      const before = list.events();
      const startedMs = performance.now();
      await change(request.changes, request.seconds);
      const seconds = (performance.now() - startedMs) / 1_000;
      const wrong = await notShown(list);
      return { kind: "changed", seconds, wrong, events: list.events() - before };
    }
  }
}

process.on("message", (request: AlarmsRequest) => {
  serve(request).then(
    (reply) => process.send?.(reply),
    (error: unknown) => process.send?.({ kind: "failed", message: String(error) } satisfies AlarmsReply),
  );
});
const keys = await selfSigned();
const caPath = join(folder, "alarms-ca.pem");
writeFileSync(caPath, keys.cert);
const address = { ...(await service.listen(keys)), caPath };
process.send?.({ kind: "listening", address } satisfies AlarmsReply);
