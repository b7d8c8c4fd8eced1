import { expect, it } from "vitest";
import { createCatalogue } from "../../../src/fleet/operations.ts";

const catalogue = createCatalogue();

/** A chain as QueryTaskChain answers it, of tasks by id and point. */
const answerOf = (tasks: ReadonlyArray<readonly [id: number, point: string]>) => [
  {
    task_chains: [
      {
        task_chain_state: { id: 7 },
        task_states: tasks.map(([id, end_point_code]) => ({
          id,
          task_type: "TASK_TYPE_LOAD",
          map_id: 1,
          end_point_code,
        })),
      },
    ],
  },
];
const before = answerOf([
  [1, "A"],
  [2, "B"],
  [3, "C"],
]);

function evidence(
  sequence: number,
  isRetained: boolean,
  now: ReadonlyArray<readonly [id: number, point: string]>,
): string | null {
  const parsed = catalogue.get("ReassignTaskByTaskChainId")?.parse({
    taskChainId: 7,
    sequence,
    isRetained,
    reassignTasks: [{ taskType: "TASK_TYPE_LOAD", mapId: 1, endPointCode: "N" }],
  });
  if (parsed?.ok !== true || parsed.request.evidence.kind !== "query") throw new Error("no query");
  const { baseline, evaluate } = parsed.request.evidence;
  return evaluate(answerOf(now), baseline?.(before));
}

it.each<[string, number, boolean, Parameters<typeof evidence>[2]]>([
  [
    "in the place of the second and what was behind it",
    2,
    false,
    [
      [1, "A"],
      [4, "N"],
    ],
  ],
  [
    "before the second",
    2,
    true,
    [
      [1, "A"],
      [4, "N"],
      [2, "B"],
      [3, "C"],
    ],
  ],
  [
    "before the second, which was made anew",
    2,
    true,
    [
      [1, "A"],
      [4, "N"],
      [5, "B"],
      [6, "C"],
    ],
  ],
  ["in the place of all", 1, false, [[4, "N"]]],
  [
    "behind all",
    4,
    false,
    [
      [1, "A"],
      [2, "B"],
      [3, "C"],
      [4, "N"],
    ],
  ],
])("a new task %s shows the reassignment", (_name, sequence, isRetained, now) => {
  expect(evidence(sequence, isRetained, now)).toBe(
    "QueryTaskChain shows the new tasks 4 as they were asked for",
  );
});

it.each<[string, number, boolean, Parameters<typeof evidence>[2]]>([
  ["at another point", 2, false, [[4, "N"]]],
  [
    "behind all, asked for before the second",
    2,
    true,
    [
      [1, "A"],
      [2, "B"],
      [3, "C"],
      [4, "N"],
    ],
  ],
  [
    "before the second, which was to go",
    2,
    false,
    [
      [1, "A"],
      [4, "N"],
      [2, "B"],
      [3, "C"],
    ],
  ],
  [
    "in the place of what was to stay",
    2,
    true,
    [
      [1, "A"],
      [4, "N"],
    ],
  ],
])("a new task %s is somebody else's", (_name, sequence, isRetained, now) => {
  expect(evidence(sequence, isRetained, now)).toBeNull();
});
