import { expect, it } from "vitest";
import { withoutSecrets } from "../../src/cli/console-log.ts";
import { createLog } from "../../src/platform/log.ts";

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
