import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DataType, DataValue, StatusCodes, Variant } from "node-opcua";
import { afterAll, expect, it, vi } from "vitest";
import { print } from "../../src/cli/control-client.ts";
import { fail, NotPossible, Refused, refuse } from "../../src/cli/exit.ts";
import { partText, wrong } from "../../src/cli/online/endpoints.ts";
import { createScreen } from "../../src/cli/status/command.ts";
import { tagLine } from "../../src/cli/tag-watch.ts";
import { auditTo } from "../../src/commands/audit/audit.ts";
import { createLog, lineDestination } from "../../src/platform/log.ts";

/** C0, DEL, C1 and a character that reverses the order of text. JSON escapes the first alone. */
const FOREIGN = "a\u001b[2J\u007f\u009b31m\u202eb";
const SHOWN = String.raw`a\u001b[2J\u007f\u009b31m\u202eb`;
const folder = mkdtempSync(join(tmpdir(), "fleetgate-foreign-text-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What is printed until `run` has ended, or ends the process. */
function printed(run: () => unknown): string {
  let text = "";
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, "write").mockImplementation((chunk) => {
      text += String(chunk);
      return true;
    });
  vi.spyOn(process, "exit").mockImplementation(() => {
    throw new Error("exit");
  });
  try {
    run();
  } catch (error) {
    if (!(error instanceof Error) || error.message !== "exit") throw error;
  } finally {
    vi.restoreAllMocks();
  }
  return text;
}

it.each<[string, () => unknown]>([
  ["why a command is not possible", () => fail(new NotPossible(FOREIGN), () => "")],
  ["an error of the system or of a peer", () => fail(new Error(FOREIGN), () => "")],
  ["why nothing was written", () => refuse(new Refused([FOREIGN]))],
  ["an answer of the gateway", () => print(FOREIGN, 0)],
])("no control character reaches the terminal with %s", (_, run) => {
  const text = printed(run);
  expect(text).toContain(SHOWN);
  expect(text).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
});

it("nor with a part of check --online, a tag of a server, or a status", () => {
  const value = new DataValue({
    statusCode: StatusCodes.Good,
    value: new Variant({ dataType: DataType.String, value: FOREIGN }),
  });
  let screen = "";
  createScreen({ write: (text) => (screen += text) }).show([FOREIGN]);
  for (const text of [
    partText(wrong(FOREIGN, FOREIGN, FOREIGN)),
    tagLine(`ns=1;s=${FOREIGN}`, value),
    screen,
  ]) {
    expect(text).toContain(SHOWN);
    expect(text).not.toContain(FOREIGN);
  }
});

it("nor with a line of the log or of the audit log, which parse to the same", () => {
  const path = join(folder, "log");
  const fd = openSync(path, "w");
  createLog("info", lineDestination(fd)).warn({ user: FOREIGN }, "a log-in failed");
  closeSync(fd);
  let audited = "";
  const file = {
    append(line: string) {
      audited = line;
    },
  };
  auditTo(file, null)({ at: "", event: "command", user: FOREIGN });
  for (const line of [readFileSync(path, "utf8"), audited]) {
    expect(line).toContain(SHOWN);
    expect(line.trimEnd()).not.toMatch(/\p{Cc}|\p{Cf}/u);
    expect(JSON.parse(line)).toMatchObject({ user: FOREIGN });
  }
});
