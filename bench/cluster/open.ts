import { openPlant, type Plant } from "../../test/cluster/chaos/plant.ts";
import { boxNames, openScene, type Scene } from "../../test/cluster/chaos/scene.ts";
import { createRobotPool, type TestRobot } from "../../test/contract/contract-harness.ts";
import { ownBuild } from "../build.ts";
import type { SectionRun } from "../section-run.ts";

/** Two boxes with the product's own times, on a disk, and what is told of them. */
export interface ClusterBench {
  readonly scene: Scene;
  /** They are commanded all the time. */
  readonly busy: readonly TestRobot[];
  /** They are commanded only to see whether that is possible. */
  readonly quiet: readonly TestRobot[];
  readonly plant: Plant;
}

const BUSY = 50;
const QUIET = 12;
/** The robots answer at once: a takeover is measured, not a robot. */
const SERVICE = { confirmMs: 0, timeFactor: 1 } as const;

export async function openClusterBench(run: SectionRun): Promise<ClusterBench> {
  const fresh = createRobotPool();
  const busy = Array.from({ length: BUSY }, () => fresh("cart"));
  const quiet = Array.from({ length: QUIET }, () => fresh("cart"));
  const plant = await openPlant(boxNames);
  run.onEnd(() => plant.close());
  const scene = await openScene({
    robots: [...busy, ...quiet],
    service: SERVICE,
    isWired: false,
    build: ownBuild,
    folder: run.folder,
    sections: (box) => ({ commands: undefined, ...plant.sections(box) }),
  });
  run.onEnd(() => scene.close());
  run.counts(() => [
    ...scene.boxes.flatMap((box) => box.pid() ?? []),
    ...scene.etcd.members.map((member) => member.pid()),
  ]);
  await scene.whole();
  return { scene, busy, quiet, plant };
}

/** The same gateway without a cluster: its journal is on a disk of its own. */
export const alone = {
  gateway: { id: "alone", dataDir: "data" },
  cluster: undefined,
  commands: undefined,
} as const;
