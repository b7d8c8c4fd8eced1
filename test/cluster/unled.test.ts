import { expect, it } from "vitest";
import { MOVED_OUT, MOVING_IN } from "../../src/cluster/protocol/records.ts";
import { leadershipOf } from "../../src/cluster/protocol/unled.ts";

const leader = (
  process: string | null,
  isLeading = false,
  unreadable: string | null = null,
  revision = 1,
  isFull = false,
) =>
  leadershipOf(
    {
      isLeading: () => isLeading,
      mirror: {
        revision: () => revision,
        get: () =>
          process === null
            ? undefined
            : { key: "", value: JSON.stringify({ member: "a", process }), created: 1, modified: 1 },
      },
      fencing: { state: () => null },
      others: () => [],
      unreadable: () => (unreadable === null ? [] : [unreadable]),
      isFull: () => isFull,
    },
    "b",
  );

it("names the member that leads", () => {
  expect(leader("process")).toEqual({ leader: "a", because: null });
  expect(leader(null)).toEqual({ leader: null, because: null });
  expect(leader(null, true)).toEqual({ leader: "b", because: null });
  expect(leader("process", false, "k")).toEqual({ leader: "a", because: null });
  expect(leader(null, false, "k")).toEqual({ leader: null, because: "b cannot read the record k of etcd" });
});

it("says that etcd is full, if nobody leads", () => {
  const because = "etcd is full (NOSPACE): it takes no write";
  expect(leader(null, false, null, 1, true)).toEqual({ leader: null, because });
  expect(leader("process", false, null, 1, true)).toEqual({ leader: "a", because: null });
});

it("does not take the box with the journal for a leader", () => {
  expect(leader(MOVED_OUT)).toEqual({
    leader: null,
    because: "the journal is on a, which is to run alone",
  });
  expect(leader(MOVING_IN)).toEqual({
    leader: null,
    because: "a has not finished moving its journal into etcd",
  });
});

it("names nobody whom it knows from its disk alone", () => {
  expect(leader("process", false, null, 0)).toEqual({
    leader: null,
    because: "etcd has not confirmed what this box knows since its gateway has started",
  });
});
