import { expect, it } from "vitest";
import type { AuditRecord } from "../../src/commands/audit/audit.ts";
import { auditTrail, syslogMessage } from "../../src/commands/audit/audit-syslog.ts";

const record: AuditRecord = {
  at: "2026-01-31T18:02:11.000Z",
  event: "command",
  protocol: "mqtt",
  user: "scada",
  request_id: "r1",
  operation: "CreateMission",
  robot_id: "cart-1",
  request: "{}",
  accepted_at: null,
  outcome: "succeeded",
  code: "OK",
  evidence: null,
};

it("copies each record to the file and to syslog, the same line", () => {
  const lines: string[] = [];
  const sent: unknown[] = [];
  const audit = auditTrail(
    "plant1",
    { append: (line) => void lines.push(line) },
    { send: (each) => void sent.push(each) },
  );
  audit(record);
  expect(lines).toEqual([JSON.stringify(record)]);
  expect(sent).toEqual([
    {
      at: record.at,
      severity: "notice",
      id: "command",
      fields: {
        gateway: "plant1",
        protocol: "mqtt",
        user: "scada",
        request_id: "r1",
        operation: "CreateMission",
        robot_id: "cart-1",
        outcome: "succeeded",
        code: "OK",
      },
      text: JSON.stringify(record),
    },
  ]);
});

it("makes an outcome that somebody may look into a warning", () => {
  expect(syslogMessage("plant1", { ...record, outcome: "unknown" }).severity).toBe("warning");
});

it("leaves long fields out of a long line, and names them", () => {
  const request = JSON.stringify({ note: "ü".repeat(4_000) });
  const { text } = syslogMessage("plant1", { ...record, request });
  const { request: _, ...others } = record;
  expect(JSON.parse(text)).toEqual({ ...others, omitted: ["request"] });
});

it("is bounded whatever a record holds", () => {
  const { text } = syslogMessage("plant1", { ...record, odd: "x".repeat(100_000) });
  expect(JSON.parse(text)).toEqual({ at: record.at, event: "command", omitted: ["all other fields"] });
});
