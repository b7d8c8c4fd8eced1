import { seededRandom } from "../../../src/simulator/world/random.ts";
import type { Counterexample } from "./counterexample.ts";
import { settle } from "./fairness.ts";
import { type Move, type MoveName, make, moveNames } from "./moves.ts";
import { newWorld, type Setup, type World } from "./world.ts";

/** How often a move is tried beside the others. What is not named goes by `rare`. */
const weights: Partial<Record<MoveName, number>> = {
  "wants a start": 20,
  "wants a stop": 8,
  "does a cycle": 40,
  "finds nothing for long": 20,
  reads: 100,
  "gets its answer": 100,
  "steps its driver": 100,
  connects: 60,
  "has its request done": 100,
  "save lands": 80,
  "record lands": 80,
  "leaves unrecorded": 60,
  ends: 40,
  "is looked into": 30,
  "comes late": 10,
};
/** How often a fault, or what comes from elsewhere, is tried in an episode. */
const rare = [0, 0, 1, 3, 10];
const EPISODE = 250;

/** Numbers from 0 up to 2^32, the same for the same seed. */
function createRandom(seed: number): () => number {
  const random = seededRandom(seed);
  return () => random() * 2 ** 32;
}

/**
 * Does about `steps` random moves, in episodes that end with fair delivery. Each has a seed of its own, from
 * `firstSeed` on, and a setup that `setupOf` makes of its random numbers. Null: no rule was broken.
 */
export function runRandomly(
  steps: number,
  firstSeed: number,
  setupOf: (random: () => number) => Setup,
): Counterexample | null {
  let done = 0;
  for (let seed = firstSeed; done < steps; seed += 1) {
    const random = createRandom(seed);
    const setup = setupOf(random);
    const world = newWorld(setup);
    const moves = runEpisode(world, random);
    done += moves.length;
    const violation = world.facts.violation ?? settle(world);
    if (violation !== null) return { violation, moves, setup, origin: `seed ${seed}` };
  }
  return null;
}

/** Some moves are rare in one episode and common in the next: that finds more than always the same mix. */
function runEpisode(world: World, random: () => number): Move[] {
  const bag: MoveName[] = random() % 16 === 0 ? ["goes through many numbers"] : [];
  for (const name of moveNames) {
    if (name === "goes through many numbers") continue;
    const usual = weights[name];
    const weight = usual === undefined ? (rare[random() % rare.length] ?? 0) : usual * (1 + (random() % 4));
    for (let time = 0; time < weight; time += 1) bag.push(name);
  }
  const moves: Move[] = [];
  for (let tries = 0; moves.length < EPISODE && tries < 6 * EPISODE; tries += 1) {
    const name = bag[random() % bag.length];
    if (name === undefined) break;
    const move = { name, who: random() % 2, how: random() };
    if (!make(world, move)) continue;
    moves.push(move);
    if (world.facts.violation !== null) break;
  }
  return moves;
}
