import { beforeEach, expect, it } from "vitest";
import type { AuditRecord } from "../../src/commands/audit/audit.ts";
import { createFenceControl } from "../../src/composition/web.ts";
import { silentLog } from "../../src/platform/log.ts";
import { createManualClock } from "../support/manual-clock.ts";

const source = { protocol: "cli", name: "root" } as const;
let audited: AuditRecord[];
let asked: string[];
let answer: string | null;
let lacking: string | null;

beforeEach(() => {
  [audited, asked, answer, lacking] = [[], [], null, null];
});

const confirm = (member: string) =>
  createFenceControl({
    confirm(of) {
      asked.push(of);
      return answer;
    },
    rights: { refusedOperation: (_source, _operation, role) => (role === "engineer" ? lacking : null) },
    ...{ audit: (record) => audited.push(record), clock: createManualClock(), log: silentLog },
  }).confirm({ source, member });

it("is a line of the audit log, with the user and the box", () => {
  expect(confirm("box-a")).toEqual({ ok: true });
  expect(asked).toEqual(["box-a"]);
  expect(audited).toMatchObject([
    { event: "fence", operation: "confirm", user: "root", member: "box-a", outcome: "succeeded" },
  ]);
});

it("is refused with the reason, and audited", () => {
  answer = "no fence has failed here: there is nothing to confirm";
  expect(confirm("box-a")).toEqual({ ok: false, reason: answer, lacksRight: false });
  expect(audited).toMatchObject([{ outcome: "refused", message: answer }]);
});

it("is for engineers", () => {
  lacking = 'cli "root" may not';
  expect(confirm("box-a")).toEqual({ ok: false, reason: lacking, lacksRight: true });
  expect([asked, audited.length]).toEqual([[], 1]);
});
