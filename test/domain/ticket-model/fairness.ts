import { type Move, type MoveName, make } from "./moves.ts";
import type { World } from "./world.ts";

/** How many rounds of fair delivery every intention gets to end. */
const ROUNDS = 80;
/** How often the same may happen in a row. */
const AT_ONCE = 4;
/** `reads` with this reads all six tags. */
const WHOLE_CYCLE = 5;
const ofServer: readonly MoveName[] = ["save lands", "is looked into"];
const ofCommands: readonly MoveName[] = ["record lands", "leaves unrecorded", "ends"];
const ofPrograms: readonly MoveName[] = [
  "connects",
  "steps its driver",
  "has its request done",
  "reads",
  "gets its answer",
  "does a cycle",
];

/**
 * From here on nothing fails, and everything comes in its turn. What programs want must end; otherwise tells
 * what does not. Numbers change every 30 s, which is 12 rounds here.
 */
export function settle(world: World, onMove: (move: Move) => void = () => {}): string | null {
  const { facts, programs } = world;
  const happen = (name: MoveName, who: number) => {
    const move = { name, who, how: name === "reads" ? WHOLE_CYCLE : 0 };
    const isDone = make(world, move);
    if (isDone) onMove(move);
    return isDone;
  };
  const repeat = (name: MoveName, who: number) => {
    for (let time = 0; time < AT_ONCE; time += 1) if (!happen(name, who)) return;
  };
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const name of ofServer) repeat(name, 0);
    for (const who of [2, 1, 0]) for (const name of ofCommands) repeat(name, who);
    for (const who of programs.keys()) {
      for (const name of ofPrograms) repeat(name, who);
      if (round % 5 === 0) happen("finds nothing for long", who);
    }
    happen("comes late", 0);
    happen("a second passes", 0);
    if (round % 12 === 0) happen("time passes", 0);
    if (facts.violation !== null) return facts.violation;
    if (programs.every((program) => program.phase === "idle" && program.wanted === 0)) return null;
  }
  const stuck = programs.filter((program) => program.phase !== "idle" || program.wanted !== 0);
  return stuck.map(({ shape, phase, my }) => `user ${shape.user} never ends: ${phase}, ${my}`).join("; ");
}
