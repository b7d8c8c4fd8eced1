import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { contractScenario, createRobotPool, type TestRobot } from "../../contract/contract-harness.ts";
import { type RunningSimulator, startSimulator } from "../../support/simulator.ts";
import { startEtcd, type TestEtcd } from "../etcd-harness.ts";
import { type Box, createBox } from "./box.ts";
import { type LateWire, startLateWire } from "./late-wire.ts";
import { openServiceLog, type ServiceLog } from "./service-log.ts";

/** Two boxes, three members of etcd, and the service with its record. */
export interface Scene {
  readonly boxes: readonly [Box, Box];
  readonly etcd: TestEtcd;
  /** Before each of etcd's members, on the way of the others to it. */
  readonly peerWires: readonly LateWire[];
  readonly robots: readonly TestRobot[];
  readonly log: ServiceLog;
  readonly simulator: RunningSimulator;
  /** Resolves when one box leads, and both see every robot. */
  whole(): Promise<void>;
  /** The box that leads. */
  leader(): Box;
  close(): Promise<void>;
}

const ROBOTS = 14;
const WHOLE_MS = 90_000;
/** Of a box's log, in a report. */
const LOG_CHARACTERS = 3_000;
/** Commands are under way at any moment, and missions are over soon. */
const SERVICE = { confirmMs: 120, confirmWaitMs: 400, timeFactor: 50 } as const;
/** Those that etcd has of itself. */
const ETCD_TIMES = ["--heartbeat-interval", "100", "--election-timeout", "1000"] as const;

export async function openScene(): Promise<Scene> {
  const cleanups: Array<() => Promise<unknown>> = [];
  const close = async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  };
  try {
    const fresh = createRobotPool();
    const robots = Array.from({ length: ROBOTS }, () => fresh("base"));
    const folder = await mkdtemp(join(tmpdir(), "fleetgate-chaos-"));
    cleanups.push(() => rm(folder, { recursive: true, force: true }));
    const scenario = { kind: "given", scenario: contractScenario() } as const;
    const simulator = await startSimulator({ scenario, ...SERVICE });
    cleanups.push(() => simulator.stop());
    const peerWires: LateWire[] = [];
    cleanups.push(() => Promise.all(peerWires.map((wire) => wire.close())));
    const etcd = await startEtcd({
      members: 3,
      options: ETCD_TIMES,
      async peerPorts(listening) {
        peerWires.push(...(await Promise.all(listening.map(startLateWire))));
        return peerWires.map(({ port }) => port);
      },
    });
    cleanups.push(() => etcd.close());
    const log = openServiceLog(simulator);
    cleanups.push(async () => log.close());
    const members = ["box-a", "box-b"] as const;
    const parts = {
      ...{ members, folder, fleet: simulator.endpoints, robots: robots.map(({ id }) => id) },
      etcdPorts: etcd.endpoints.map((endpoint) => Number(endpoint.split(":").at(-1))),
    };
    const boxes = [
      await createBox({ ...parts, name: "box-a" }),
      await createBox({ ...parts, name: "box-b" }),
    ] as const;
    for (const box of boxes) {
      cleanups.push(() => box.close());
      box.start();
    }
    const leaders = () => boxes.filter((box) => box.isLeading());

    async function isWhole(): Promise<boolean> {
      if (leaders().length !== 1) return false;
      return (await Promise.all(boxes.map((box) => box.isWhole()))).every(Boolean);
    }

    return {
      ...{ boxes, etcd, peerWires, robots, log, simulator, close },
      async whole() {
        const untilMs = performance.now() + WHOLE_MS;
        while (!(await isWhole())) {
          const ended = boxes.flatMap((box) => box.takeFaults());
          if (ended.length > 0) throw new Error(ended.join("\n"));
          if (performance.now() > untilMs) {
            const said = boxes.map((box) => `${box.name}: ${box.said().slice(-LOG_CHARACTERS)}`);
            throw new Error(`the boxes are not whole: ${leaders().length} lead\n${said.join("\n")}`);
          }
          await wait(250);
        }
      },
      leader() {
        const [leader] = leaders();
        if (leader === undefined) throw new Error("nobody leads");
        return leader;
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
