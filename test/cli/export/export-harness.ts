import type { OpcUaOptions } from "../../../src/northbound/opcua/options.ts";
import type { Now } from "../../../src/platform/live.ts";

const user = {
  name: "line 1",
  secret: { kind: "plain", text: "secret" },
  role: "operator",
  number: 1,
} as const;
const none = { alias: null, number: null, family: "unknown", conveyorIndexes: [] } as const;

/** Each optional member is there in one of them, and lacks in one. */
export const plants: ReadonlyArray<readonly [name: string, options: Partial<Now<OpcUaOptions>>]> = [
  [
    "everything",
    {
      users: [user],
      missionSlots: 2,
      stations: [
        { name: "load 1", needsPermit: true, load: "CW" },
        { name: 'unload <1> & "2"', needsPermit: false, load: null },
      ],
      robots: [
        { ...none, robotId: "r1", alias: "AMR01", number: 1, family: "cart", conveyorIndexes: [1, 0, 1] },
        { ...none, robotId: "r.2/ü", family: "serve" },
        { ...none, robotId: "AMR01" },
        { ...none, robotId: "r4", conveyorIndexes: [3] },
      ],
    },
  ],
  [
    "a gateway that is a member of a cluster",
    { isClustered: true, robots: [{ ...none, robotId: "r1", family: "cart", conveyorIndexes: [0, 1] }] },
  ],
  [
    "nothing that is optional",
    {
      robots: [
        { ...none, robotId: "r1", family: "cart" },
        { ...none, robotId: "r2" },
      ],
    },
  ],
];
