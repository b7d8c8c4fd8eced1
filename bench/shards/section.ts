// Two gateways side by side, each on two boxes, and one gateway alone: what a robot costs.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startEtcd } from "../../test/cluster/etcd-harness.ts";
import { nodesBuilt } from "../fleet/open.ts";
import { type Gateway, startGateway } from "../gateway.ts";
import { quantile } from "../quantile.ts";
import { type Findings, row } from "../report.ts";
import { freePorts, pause, type SectionRun, startBroker, until } from "../section-run.ts";
import { fleetSection, startService } from "../service.ts";
import { halls, scenarioOf } from "./scenario.ts";

interface Cost {
  /** Of a core, while so many robots go about, in each block. */
  readonly percents: readonly number[];
  readonly rssAnonMb: number;
}

interface Running {
  readonly what: "alone" | "leader" | "standby";
  readonly gateway: Gateway;
}

const ROBOTS = 750;
const QUICK_ROBOTS = 100;
const BLOCKS = 6;
const BLOCK_MS = 10_000;
/** What a start leaves to do. */
const SETTLE_MS = 30_000;
const READY_MS = 300_000;
const LOOK_MS = 500;
const boxes = ["box-a", "box-b"] as const;

/** All run at the same time: what else the machine does is the same for each. */
export async function measureShards(
  run: SectionRun,
  { quick }: { readonly quick: boolean },
): Promise<Findings> {
  const robots = quick ? QUICK_ROBOTS : ROBOTS;
  const scenario = join(run.folder, "halls.yaml");
  writeFileSync(scenario, JSON.stringify(scenarioOf(robots)));
  const etcd = await startEtcd({ members: 3, folder: run.folder });
  run.onEnd(() => etcd.close());
  run.counts(() => etcd.members.map((member) => member.pid()));
  const service = await startService(run, {
    folder: join(run.folder, "service"),
    port: await freePorts(),
    args: ["--scenario", scenario],
  });
  const mqttPort = await startBroker(run);

  async function start(hall: string, box: string | null): Promise<Gateway> {
    const cluster = {
      name: hall,
      member: box,
      members: Object.fromEntries(boxes.map((name) => [name, { opcuaUri: `urn:${name}:${hall}` }])),
      etcd: { endpoints: etcd.endpoints },
    };
    const gateway = await startGateway(run, {
      id: box === null ? "alone" : hall,
      ...(box === null ? {} : { folder: `${hall}-${box}`, sections: { cluster } }),
      fleet: { ...fleetSection(service.address), locations: [hall] },
      mqttPort,
    });
    await nodesBuilt(gateway, robots, READY_MS);
    return gateway;
  }

  const running: Running[] = [{ what: "alone", gateway: await start(halls[0], null) }];
  // Each hall is led by another box.
  for (const [at, hall] of halls.entries()) {
    const leader = await start(hall, boxes[at] ?? "");
    await until(`${hall} is led`, () => leads(leader), READY_MS, LOOK_MS);
    running.push({ what: "leader", gateway: leader });
  }
  for (const [at, hall] of halls.entries())
    running.push({ what: "standby", gateway: await start(hall, boxes[1 - at] ?? "") });

  await pause(SETTLE_MS);
  const percents = running.map((): number[] => []);
  for (let block = 0; block < BLOCKS; block += 1) {
    const before = running.map(({ gateway }) => gateway.child.cpuMicros());
    const beganMs = performance.now();
    await pause(BLOCK_MS);
    const percentOfMicro = 0.1 / (performance.now() - beganMs);
    for (const [at, { gateway }] of running.entries())
      percents[at]?.push((gateway.child.cpuMicros() - (before[at] ?? 0)) * percentOfMicro);
  }
  const costs = running.map(({ what, gateway }, at) => ({
    what,
    percents: percents[at] ?? [],
    rssAnonMb: gateway.child.rssAnonMb(),
  }));
  return findings(robots, costs);
}

async function leads(gateway: Gateway): Promise<boolean> {
  const metrics = await fetch(`${gateway.webUrl}/metrics`).then((answer) => answer.text());
  return /^fleetgate_cluster_active(\{[^}]*\})? 1$/m.test(metrics);
}

function findings(robots: number, costs: readonly (Cost & Pick<Running, "what">)[]): Findings {
  const of = (what: Running["what"]) => {
    const own = costs.filter((each) => each.what === what);
    return {
      percent: quantile(
        own.flatMap(({ percents }) => percents),
        0.5,
      ),
      rssAnonMb: own.reduce((sum, { rssAnonMb }) => sum + rssAnonMb, 0) / own.length,
    };
  };
  const [alone, leader, standby] = [of("alone"), of("leader"), of("standby")];
  const ratio = (one: typeof alone, other: typeof alone, of: keyof typeof alone) => one[of] / other[of];
  const each = (what: string, { percent, rssAnonMb }: ReturnType<typeof of>) =>
    row(`  ${what}`, (percent / robots) * 1_000, (rssAnonMb / robots) * 1_000);
  return {
    figures: { robots, alone, leader, standby, costs },
    faults: [],
    reach: [],
    table: [
      row("1,000 robots, median of the blocks", "% of a core", "RssAnon, MB"),
      each(`one gateway with ${robots} robots`, alone),
      each(`the leader of each of two with ${robots}`, leader),
      each("the standby of each", standby),
      row(
        "a robot at a leader, of one at one gateway",
        ratio(leader, alone, "percent"),
        ratio(leader, alone, "rssAnonMb"),
      ),
    ].join("\n"),
  };
}
