import { expect, it } from "vitest";
import { journalLine, type SyslogMessage, syslogLine } from "../../../src/platform/syslog/syslog-message.ts";

const origin = { host: "box", app: "fleetgate-audit", pid: 7 };
const message: SyslogMessage = {
  at: "2026-01-31T18:02:11.000Z",
  severity: "notice",
  id: "command",
  fields: { gateway: "plant1", user: "scada" },
  text: '{"a":1}',
};

it("is a message of RFC 5424, with a sequence that shows a gap", () => {
  expect(syslogLine(message, origin, 3)).toBe(
    '<109>1 2026-01-31T18:02:11.000Z box fleetgate-audit 7 command [meta sequenceId="3"]' +
      '[fleetgate-audit@32473 gateway="plant1" user="scada"] {"a":1}',
  );
  expect(syslogLine({ ...message, severity: "warning" }, origin, 2_147_483_648)).toMatch(
    /^<108>1 .*sequenceId="1"/,
  );
});

it("escapes what a sender chose, so that nobody adds a field or a line", () => {
  const evil = 'x" outcome="succeeded"][\\\n<109>1 \u2028\u0085\u007f';
  const line = syslogLine({ ...message, fields: { user: evil } }, origin, 1);
  expect(line).toContain(
    'user="x\\" outcome=\\"succeeded\\"\\][\\\\\ufffd<109>1 \ufffd\ufffd\ufffd"] {"a":1}',
  );
});

it("bounds each field, and cuts no character in two", () => {
  const fields = { user: `${"a".repeat(255)}😀${"b".repeat(5_000)}` };
  const line = syslogLine({ ...message, fields }, origin, 1);
  expect(line).toContain(`user="${"a".repeat(255)}\ufffd"]`);
});

it("has no header field with a space, or without a character", () => {
  const line = syslogLine(message, { ...origin, host: " \u00e4 " }, 1);
  expect(line).toMatch(/^<109>1 \S+ - fleetgate-audit 7 command /);
});

it("begins with its priority for the journal", () => {
  expect(journalLine({ ...message, severity: "warning" })).toBe('<4>{"a":1}');
});
