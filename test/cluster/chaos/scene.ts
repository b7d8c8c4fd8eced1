import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { SimulatorOptions } from "../../../src/simulator/options.ts";
import { contractScenario, createRobotPool, type TestRobot } from "../../contract/contract-harness.ts";
import { builtHere, type DaemonBuild } from "../../daemon/daemon.ts";
import { type RunningSimulator, startSimulator } from "../../support/simulator.ts";
import { startEtcd, type TestEtcd } from "../etcd-harness.ts";
import { type Box, type BoxParts, createBox } from "./box.ts";
import { stationsOf } from "./conveyor-line.ts";
import { bareWire, type LateWire, startLateWire } from "./late-wire.ts";
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
  /** Another gateway of the same robots, which is closed with the scene. It is not started yet. */
  another(name: string, sections: BoxParts["sections"]): Promise<Box>;
  close(): Promise<void>;
}

/** Each is that of the rounds of faults, if it is left out. */
export interface SceneOptions {
  readonly robots?: readonly TestRobot[];
  /** The cart of a line; there is none unless it is given. */
  readonly cart?: TestRobot;
  readonly service?: Partial<SimulatorOptions>;
  readonly build?: DaemonBuild;
  readonly sections?: BoxParts["sections"];
  /** Connections can go dead. */
  readonly isWired?: boolean;
  /** For all data, which is removed at the end; etcd's is in memory else. */
  readonly folder?: string;
}

export const boxNames = ["box-a", "box-b"] as const;
const ROBOTS = 14;
const WHOLE_MS = 90_000;
/** Of a box's log, in a report. */
const LOG_CHARACTERS = 3_000;
/** Commands are under way at any moment, and missions are over soon. */
const SERVICE = { confirmMs: 120, confirmWaitMs: 400, timeFactor: 50 } as const;
/** Those that etcd has of itself. */
const ETCD_TIMES = ["--heartbeat-interval", "100", "--election-timeout", "1000"] as const;

export async function openScene(options: SceneOptions = {}): Promise<Scene> {
  const { robots = someRobots(), service = SERVICE, isWired = true, sections = () => ({}) } = options;
  const cleanups: Array<() => Promise<unknown>> = [];
  const close = async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  };
  try {
    const folder = await mkdtemp(join(options.folder ?? tmpdir(), "fleetgate-chaos-"));
    cleanups.push(() => rm(folder, { recursive: true, force: true }));
    const scenario = { kind: "given", scenario: contractScenario() } as const;
    const simulator = await startSimulator({ scenario, ...service });
    cleanups.push(() => simulator.stop());
    const peerWires: LateWire[] = [];
    cleanups.push(() => Promise.all(peerWires.map((wire) => wire.close())));
    const etcd = await startEtcd({
      members: 3,
      options: ETCD_TIMES,
      ...(options.folder === undefined ? {} : { folder }),
      async peerPorts(listening) {
        peerWires.push(...(await Promise.all(listening.map(isWired ? startLateWire : bareWire))));
        return peerWires.map(({ port }) => port);
      },
    });
    cleanups.push(() => etcd.close());
    const log = openServiceLog(simulator);
    cleanups.push(async () => log.close());
    const carts = options.cart === undefined ? [] : [options.cart];
    const parts = {
      ...{ members: boxNames, folder, fleet: simulator.endpoints, isWired, sections },
      robots: [...robots, ...carts].map(({ id }) => id),
      stations: Object.assign({}, ...carts.map(stationsOf)),
      etcdPorts: etcd.endpoints.map((endpoint) => Number(endpoint.split(":").at(-1))),
      build: options.build ?? builtHere,
    };
    const boxes = [
      await createBox({ ...parts, name: boxNames[0] }),
      await createBox({ ...parts, name: boxNames[1] }),
    ] as const;
    for (const box of boxes) {
      cleanups.push(() => box.close());
      box.start();
    }
    return {
      ...{ boxes, etcd, peerWires, robots, log, simulator, close },
      whole: () => whole(boxes),
      leader() {
        const [leader] = leadersOf(boxes);
        if (leader === undefined) throw new Error("nobody leads");
        return leader;
      },
      async another(name, own) {
        const box = await createBox({ ...parts, name, sections: own });
        cleanups.push(() => box.close());
        return box;
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function someRobots(): readonly TestRobot[] {
  const fresh = createRobotPool();
  return Array.from({ length: ROBOTS }, () => fresh("base"));
}

const leadersOf = (boxes: readonly Box[]) => boxes.filter((box) => box.isLeading());

async function whole(boxes: readonly Box[]): Promise<void> {
  const untilMs = performance.now() + WHOLE_MS;
  while (!(await isWhole(boxes))) {
    const ended = boxes.flatMap((box) => box.takeFaults());
    if (ended.length > 0) throw new Error(ended.join("\n"));
    if (performance.now() > untilMs) {
      const said = boxes.map((box) => `${box.name}: ${box.said().slice(-LOG_CHARACTERS)}`);
      throw new Error(`the boxes are not whole: ${leadersOf(boxes).length} lead\n${said.join("\n")}`);
    }
    await wait(250);
  }
}

async function isWhole(boxes: readonly Box[]): Promise<boolean> {
  if (leadersOf(boxes).length !== 1) return false;
  return (await Promise.all(boxes.map((box) => box.isWhole()))).every(Boolean);
}
