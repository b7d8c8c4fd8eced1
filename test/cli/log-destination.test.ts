import { describe, expect, it } from "vitest";
import { textLine, withoutSecrets } from "../../src/cli/console-log.ts";
import { createLog, type LogFields } from "../../src/platform/log.ts";

it("shows no API secret that the service puts into an error, also in JSON", () => {
  const secret = 'a "secret" of the key';
  const lines: string[] = [];
  const log = createLog("info", withoutSecrets({ write: (line) => void lines.push(line) }, [secret]));
  const error = new Error(`the key with secret ${secret} is locked`, { cause: JSON.stringify({ secret }) });
  log.warn({ err: error, reason: error.message }, `refused: ${secret}`);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain("the key with secret (hidden) is locked");
  expect(lines[0]).not.toMatch(/a \\*"secret/);
});

describe("a line for people", () => {
  /** The line of a log with these fields and this message. */
  function lineOf(fields: LogFields, message: string): string {
    const lines: string[] = [];
    const log = createLog("info", { write: (line) => void lines.push(textLine(line)) });
    log.child({ part: "fleet" }).warn(fields, message);
    return lines.join("");
  }

  it("begins with time, level, component and message; then come the fields", () => {
    const fields = { robotId: "cart-01", reason: "no answer", waitMs: 200, at: ["a", 1] };
    expect(lineOf(fields, "the stream ended")).toMatch(
      /^\d{4}-\d\d-\d\dT[\d:.]+Z warn {2}fleet: the stream ended {2}robotId=cart-01 {2}reason="no answer" {2}waitMs=200 {2}at=\["a",1\]\n$/,
    );
  });

  it("is one line, and passes no control character on", () => {
    const line = lineOf({ err: new Error("two\nlines \u001b[31m") }, "bad\r\nname");
    expect(line).toMatch(/^[^\p{Cc}]+\n$/u);
    expect(line).toContain("two");
  });
});
