import type { Conveyor } from "../domain/conveyor.ts";
import type { Observed } from "../domain/observed.ts";
import type { CachedConveyors } from "./robot-entry.ts";

/**
 * More than any cart has, including conveyors that are gone: each keeps its tags and topics. Those beyond it
 * are refused, or a broken service could fill the memory.
 */
const MOST_CONVEYORS = 64;

/** The conveyors of a message, up to the limit of a cart. */
export function listedConveyors(
  { received, gone }: CachedConveyors,
  conveyors: readonly Conveyor[],
): readonly Conveyor[] {
  const earlier = [...(received?.value ?? []), ...gone.map((observed) => observed.value)];
  const known = new Set(earlier.map(({ index }) => index));
  return conveyors.filter(({ index }) => {
    if (known.size < MOST_CONVEYORS) known.add(index);
    return known.has(index);
  });
}

/** The conveyors that were listed until now, or were gone before: nothing is known of them any more. */
export function goneConveyors(
  cached: CachedConveyors,
  listed: readonly Conveyor[],
): readonly Observed<Conveyor>[] {
  if (cached.received === null) return cached.gone;
  const { value, stamp } = cached.received;
  const isListed = (index: number) => listed.some((conveyor) => conveyor.index === index);
  const left = value.filter((conveyor) => !isListed(conveyor.index));
  const old = cached.gone.filter((observed) => !isListed(observed.value.index));
  if (left.length === 0 && old.length === cached.gone.length) return cached.gone;
  const now = left.map((conveyor): Observed<Conveyor> => ({ value: conveyor, stamp, quality: "lost" }));
  return [...old, ...now];
}
