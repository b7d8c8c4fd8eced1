import { expect, it } from "vitest";
import type { EtcdMember } from "../../../src/cluster/etcd/member.ts";
import { connectFault } from "../../../src/cluster/etcd/outcome.ts";
import { createRoute } from "../../../src/cluster/etcd/route.ts";
import { createManualClock } from "../../support/manual-clock.ts";

const DEADLINE_MS = 1_500;

it("tries no further member when its time is over, as after a process that stood still", async () => {
  const clock = createManualClock();
  const asked: number[] = [];
  const member = (endpoint: string) =>
    ({
      endpoint,
      connect(limitMs: number) {
        asked.push(limitMs);
        clock.advance(2 * DEADLINE_MS);
        return Promise.resolve(connectFault(endpoint, "it came too late"));
      },
    }) as unknown as EtcdMember;
  const route = createRoute([member("a:1"), member("b:1"), member("c:1")], clock, DEADLINE_MS);
  const ended = await route.call(true, () => Promise.reject(new Error("there is no connection")));
  expect(asked).toEqual([DEADLINE_MS / 3]);
  expect(ended).toMatchObject({ kind: "failed", fault: connectFault("a:1", "it came too late") });
});
