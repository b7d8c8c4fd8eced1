import { settle } from "./fairness.ts";
import { type Move, make } from "./moves.ts";
import type { Answer, WriteRequest } from "./server.ts";
import { newWorld, type Setup, type World } from "./world.ts";

/** Moves that break a rule of the tickets. */
export interface Counterexample {
  readonly violation: string;
  readonly setup: Setup;
  readonly moves: readonly Move[];
  /** Where it was found. */
  readonly origin: string;
}

const LINES = 30;

/** A counterexample for people: as few moves as still break a rule, the last of them with what they did. */
export function explain({ violation, setup, moves, origin }: Counterexample): string {
  const lines: string[] = [];
  let before = "";
  const shrunk = shrink(setup, moves);
  const found = replay(setup, shrunk, (move, world) => {
    const after = stateLine(world);
    const read = move.name === "gets its answer" ? readLine(world.programs[move.who]?.views[0]) : "";
    if (after !== before || read !== "") lines.push(`${move.name} (${move.who})${read} | ${after}`);
    before = after;
  });
  const programs = setup.programs.map(
    ({ user, reads, writes, isCyclic }) =>
      `user ${user} reads ${reads}, writes ${writes}${isCyclic ? " in every cycle" : ""}`,
  );
  const head = [`${origin}: ${violation}`, `after ${shrunk.length} moves: ${found}`, ...programs];
  return [...head, ...lines.slice(-LINES)].join("\n");
}

/**
 * What these moves break, or what fair delivery does not end after them. What cannot happen is passed over.
 */
function replay(
  setup: Setup,
  moves: readonly Move[],
  onMove: (move: Move, world: World) => void = () => {},
): string | null {
  const world = newWorld(setup);
  for (const move of moves) {
    if (make(world, move)) onMove(move, world);
    if (world.facts.violation !== null) return world.facts.violation;
  }
  return settle(world, (move) => onMove(move, world));
}

/** Leaves out halves, quarters and so on, as long as the rest still breaks a rule. */
function shrink(setup: Setup, moves: readonly Move[]): readonly Move[] {
  let kept = moves;
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < kept.length; ) {
      const fewer = [...kept.slice(0, from), ...kept.slice(from + size)];
      if (replay(setup, fewer) === null) from += size;
      else kept = fewer;
    }
  }
  return kept;
}

function readLine(view: Answer | undefined): string {
  if (view === undefined) return "";
  const { next, accepted, by, done, outcome, closed } = view;
  return ` NextId ${next} AcceptedId ${accepted} (user ${by}) DoneId ${done} ${outcome} Closed [${closed.join()}]`;
}

function stateLine({ server, programs, clients, orphans, facts }: World): string {
  const { open, accepted, doneId, closed, current, disk } = server.registry.tickets;
  const owner = current === null ? "" : ` slot ${current.id} ${current.phase}`;
  const slot = `NextId ${open} AcceptedId ${accepted?.id ?? 0} (user ${accepted?.userNo ?? "-"}) DoneId ${doneId}`;
  const states = programs.map(({ shape, phase, my, isBusy }, index) => {
    const written = textOf(clients[index]?.connection?.queue ?? []);
    return `user ${shape.user} ${phase}, my ${my}${isBusy ? " busy" : ""}, on its way [${written}]`;
  });
  const held = orphans.map(({ queue }) => `held [${textOf(queue)}]`);
  const sent = `sent [${facts.sent.map(({ number }) => number).join()}]`;
  const shown = `${slot} Closed [${closed.join()}]${owner}${disk === "failing" ? " disk fails" : ""}`;
  return [shown, ...states, ...held, sent].join(" | ");
}

function textOf(requests: readonly WriteRequest[]): string {
  return requests.map((request) => JSON.stringify(request)).join(" ");
}
