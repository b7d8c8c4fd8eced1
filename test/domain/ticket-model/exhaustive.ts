import type { Counterexample } from "./counterexample.ts";
import { settle } from "./fairness.ts";
import { type Move, make } from "./moves.ts";
import { copyWorld, keyOf, newWorld, type Setup, type World } from "./world.ts";

/** Moves that may happen, and how often at most; without `most` as often as something changes. */
export interface Bound {
  readonly move: Move;
  readonly most?: number;
}

/** The last move of the way to a world. */
interface Step {
  readonly move: Move;
  readonly before: Step | null;
}

interface Node {
  readonly world: World;
  readonly left: readonly number[];
  readonly step: Step | null;
}

const SETTLED_EVERY = 64;

/**
 * Goes through every world that `bounds` allow, the nearest first; all programs are connected and idle at
 * first. Of every 64th it is checked that fair delivery ends what is under way. Throws above `mostWorlds`.
 */
export function explore(
  setup: Setup,
  bounds: readonly Bound[],
  mostWorlds: number,
): { readonly worlds: number; readonly found: Counterexample | null } {
  const found = (violation: string, step: Step) => ({
    worlds: known.size,
    found: { violation, setup, moves: [...beginning, ...pathTo(step)], origin: `world ${known.size}` },
  });
  const left = bounds.map(({ most }) => most ?? Number.POSITIVE_INFINITY);
  const first = newWorld(setup);
  const beginning: Move[] = [];
  settle(first, (move) => beginning.push(move));
  let near: Node[] = [{ world: first, left, step: null }];
  const known = new Set<number>();
  while (near.length > 0) {
    const next: Node[] = [];
    for (const node of near) {
      // What cannot happen changes nothing, so that the next move can have the same copy.
      let copy: World | null = null;
      for (const [index, { move }] of bounds.entries()) {
        if (node.left[index] === 0) continue;
        const world: World = copy ?? copyWorld(node.world);
        copy = world;
        if (!make(world, move)) continue;
        copy = null;
        const then = node.left.map((times, each) => (each === index ? times - 1 : times));
        const step = { move, before: node.step };
        const { violation } = world.facts;
        if (violation !== null) return found(violation, step);
        const key = hash(`${then.join()} ${keyOf(world)}`);
        if (known.has(key)) continue;
        known.add(key);
        if (known.size > mostWorlds) throw new Error(`more than ${mostWorlds} worlds`);
        next.push({ world, left: then, step });
        const stuck = known.size % SETTLED_EVERY === 0 ? settle(copyWorld(world)) : null;
        if (stuck !== null) return found(stuck, step);
      }
    }
    near = next;
  }
  return { worlds: known.size, found: null };
}

function pathTo(last: Step): readonly Move[] {
  const moves: Move[] = [];
  for (let step: Step | null = last; step !== null; step = step.before) moves.unshift(step.move);
  return moves;
}

/** 53 bits of a text (cyrb53): two of a million texts share one in less than a case of 10,000. */
function hash(text: string): number {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return 4294967296 * (2097151 & low) + (high >>> 0);
}
