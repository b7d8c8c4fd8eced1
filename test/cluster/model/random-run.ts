import { type Order, type Parts, robots, World } from "./world.ts";

/** A run that has broken an invariant. */
export interface Found {
  readonly seed: number;
  readonly violation: string;
}

type OnRun = (world: World) => void;

const MOVES = { least: 15, most: 40 };
const LONGEST_MS = 90_000;

type Move = readonly [weight: number, name: string, make: (world: World, index: number) => void];

/** The moves of the adversary and of clients, by how often they are made. */
const moves: readonly Move[] = [
  [30, "start", (world, index) => start(world, index)],
  [6, "repeat", (world, index) => repeat(world, index)],
  [8, "stop", (world, index) => stop(world, index)],
  [4, "hold", (world, index) => hold(world, index, true)],
  [5, "lift", (world, index) => hold(world, index, false)],
  [3, "crash with a start on its way", (world, index) => crashWithStart(world, index)],
  [5, "crash", (world, index) => world.kill(index, world.random.between(50, 4_000))],
  [4, "pause", (world, index) => world.at(index, ({ box }) => box.pause(world.random.between(50, 9_000)))],
  [4, "cut from the store", (world, index) => cut(world, index, "storeCutUntilMs")],
  [3, "cut from the service", (world, index) => cut(world, index, "serviceCutUntilMs")],
  [4, "renew all leases", (world) => world.store.renewAll()],
  [5, "hand over", (world, index) => world.at(index, ({ member }) => void member.resign("planned"))],
];

/** A user holds and lifts at once on one box and the other, while starts leave. */
export const holdMoves: readonly Move[] = [
  [10, "start", (world, index) => start(world, index)],
  [10, "hold", (world, index) => hold(world, index, true)],
  [10, "lift", (world, index) => hold(world, index, false)],
  [1, "cut from the store", (world, index) => cut(world, index, "storeCutUntilMs")],
  [1, "hand over", (world, index) => world.at(index, ({ member }) => void member.resign("planned"))],
];

/** Plays one run. Returns what it has broken. */
async function runOnce(
  parts: Parts,
  seed: number,
  of: readonly Move[],
  onRun: OnRun = () => {},
): Promise<Found | null> {
  const world = await play(parts, seed, false, of);
  onRun(world);
  const [violation] = world.truth.violations;
  return violation === undefined ? null : { seed, violation };
}

/** Plays runs of many seeds, until one breaks an invariant. */
export async function runMany(
  parts: Parts,
  runs: number,
  firstSeed: number,
  onRun?: OnRun,
  of = moves,
): Promise<Found | null> {
  for (let seed = firstSeed; seed < firstSeed + runs; seed += 1) {
    const found = await runOnce(parts, seed, of, onRun);
    if (found !== null) return found;
  }
  return null;
}

/** What happened in a run, for people. */
export async function explain(parts: Parts, { seed, violation }: Found, of = moves): Promise<string> {
  const { lines } = (await play(parts, seed, true, of)).truth;
  return [`seed ${seed}: ${violation}`, ...(lines ?? [])].join("\n");
}

async function play(parts: Parts, seed: number, isTraced: boolean, of: readonly Move[]): Promise<World> {
  const world = new World(parts, seed, isTraced);
  const { random, sim, truth } = world;
  const isBroken = () => truth.violations.length > 0;
  const count = MOVES.least + random.below(MOVES.most - MOVES.least);
  const pace = random.between(100, 800);
  for (let at = 0; at < count && !isBroken(); at += 1) {
    await sim.play(sim.nowMs + random.between(0, 2 * pace), isBroken);
    const [name, make] = anyMove(world, of);
    const index = random.below(2);
    truth.note(`${name} at ${index}`);
    make(world, index);
  }
  world.heal();
  for (const end = sim.nowMs + LONGEST_MS; sim.nowMs < end && !isBroken(); ) {
    await sim.play(sim.nowMs + 2_000, isBroken);
    if (world.isSettled() && sim.nowMs > end - LONGEST_MS + 12_000) break;
  }
  if (!isBroken()) truth.check(world.store, robots);
  return world;
}

function anyMove({ random }: World, of: readonly Move[]): readonly [string, Move[2]] {
  let left = random.below(of.reduce((sum, [weight]) => sum + weight, 0));
  for (const [weight, name, make] of of) {
    if (left < weight) return [name, make];
    left -= weight;
  }
  throw new Error("no move");
}

function anyRobot({ random }: World): string {
  return robots[random.below(robots.length)] ?? "r1";
}

function start(world: World, index: number): void {
  const { random } = world;
  startOf(world, index, random.chance(0.15) ? null : anyRobot(world));
}

function startOf(world: World, index: number, robotId: string | null): void {
  const { random, orders } = world;
  const operation = robotId === null ? "GoAny" : random.chance(0.5) ? "Go" : "Skip";
  const order: Order = { id: `c${orders.length}`, operation, robotId };
  orders.push(order);
  world.submit(index, order, random.between(500, 10_000));
  if (random.chance(0.5)) world.submit(1 - index, order, random.between(500, 10_000));
}

/** The next start of the robot comes while the one before may still arrive. */
function crashWithStart(world: World, index: number): void {
  const { random, sim } = world;
  const robotId = anyRobot(world);
  startOf(world, index, robotId);
  sim.after(random.between(5, 100), () => world.kill(index, random.between(50, 4_000)));
  sim.after(random.between(500, 8_000), () => startOf(world, 1 - index, robotId));
}

function stop(world: World, index: number): void {
  const order: Order = { id: `h${world.orders.length}`, operation: "Halt", robotId: anyRobot(world) };
  world.orders.push(order);
  world.submit(index, order, 10_000);
}

function repeat(world: World, index: number): void {
  const { random, orders } = world;
  const known = orders[random.below(orders.length)];
  if (known !== undefined) world.submit(index, known, random.between(500, 10_000));
}

function hold(world: World, index: number, isHeld: boolean): void {
  world.hold(index, world.random.chance(0.2) ? null : anyRobot(world), isHeld);
}

function cut(
  { random, sim, machines }: World,
  index: number,
  which: "storeCutUntilMs" | "serviceCutUntilMs",
) {
  const machine = machines[index];
  if (machine !== undefined) machine[which] = sim.nowMs + random.between(200, 9_000);
}
