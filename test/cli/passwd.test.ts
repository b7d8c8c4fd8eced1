import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, expect, it, vi } from "vitest";
import { secretAccess } from "../../src/cli/new-file.ts";
import { askNewPassword, inventPassword, newPasswordProblem } from "../../src/cli/passwd.ts";
import { openTerminal } from "../../src/cli/terminal.ts";
import { isPassword } from "../../src/platform/password.ts";
import { endPrograms, newFolder, TEST_TIMEOUT_MS } from "./program.ts";
import { piped, typed } from "./typed.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });
afterEach(endPrograms);

it("prints the hash of the first line of standard input", async () => {
  const { code, out, err } = piped(newFolder(), ["passwd"], "correct horse\r\nnot this\n");
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(/^scrypt:\S+\n$/);
  expect(await isPassword(out.trim(), "correct horse")).toBe(true);
});

it("takes no byte order mark for a part of the password", async () => {
  const { out } = piped(newFolder(), ["passwd"], "\uFEFFcorrect horse\r\n");
  expect(await isPassword(out.trim(), "correct horse")).toBe(true);
});

it("writes it to a new file that others cannot read, and never over a file", async () => {
  const folder = newFolder();
  const file = join(folder, "line1");
  expect(piped(folder, ["passwd", "--out", "line1"], "correct horse\n")).toEqual({
    code: 0,
    out: "",
    err: "",
  });
  const text = readFileSync(file, "utf8");
  expect(await isPassword(text.trim(), "correct horse")).toBe(true);
  expect((statSync(file).mode & 0o777).toString(8)).toBe(secretAccess().mode.toString(8));
  expect(piped(folder, ["passwd", "--out", "line1"], "other\n")).toMatchObject({
    code: 64,
    err: expect.stringContaining("line1 is there already"),
  });
  expect(readFileSync(file, "utf8")).toBe(text);
});

it.each([
  ["", "is empty"],
  ["\n", "is empty"],
  [" a secret\n", "begins or ends with a space"],
  ["a secret \r\n", "begins or ends with a space"],
  [Buffer.from("\uFEFFa secret\r\n", "utf16le"), "is no UTF-8 text"],
  ["a\tsecret\n", "has characters that cannot be typed everywhere"],
  ["scrypt:c2VjcmV0:c2VjcmV0\n", "is a hash already"],
])("refuses %j, and does not quote it", (input, reason) => {
  const { code, out, err } = piped(newFolder(), ["passwd"], input);
  expect({ code, out }).toEqual({ code: 64, out: "" });
  expect(err).toContain(reason);
  expect(err).not.toMatch(/secret|c2Vj/);
});

it("asks twice at a terminal, and shows nothing of the password", async () => {
  const folder = newFolder();
  const { screen, code } = await typed(
    folder,
    ["passwd", "--out", "line1"],
    [
      ["Password: ", "correct horse"],
      ["The same again: ", "correct hose"],
      ["Password: ", "correct horse"],
      ["The same again: ", "correct horse"],
    ],
  );
  expect(screen).not.toMatch(/ho[r]?se/);
  expect(screen).toContain("these were two different passwords");
  expect(code).toBe(0);
  expect(await isPassword(readFileSync(join(folder, "line1"), "utf8").trim(), "correct horse")).toBe(true);
});

it("ends when the person gives up", async () => {
  const { screen, code } = await typed(newFolder(), ["passwd"], [["Password: ", "\u0003"]]);
  expect(screen).toContain("cancelled");
  expect(code).toBe(64);
});

it("keeps lines that were pasted before their question", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const terminal = openTerminal(input, output);
  input.write("one\ntwo\n");
  expect(await terminal.ask("First? ")).toBe("one");
  expect(await terminal.ask("Second? ")).toBe("two");
  terminal.close();
});

it("leaves an empty answer to the one who asks, if that means something", async () => {
  const input = new PassThrough();
  const terminal = openTerminal(input, new PassThrough());
  input.write("\n");
  expect(await askNewPassword(terminal, "Password", "one is made")).toBe("");
  terminal.close();
});

it("invents passwords that can be typed and are never the same", () => {
  const invented = Array.from({ length: 50 }, inventPassword);
  for (const password of invented) expect(password).toMatch(/^([a-km-np-z2-9]{4}-){3}[a-km-np-z2-9]{4}$/);
  expect(new Set(invented).size).toBe(50);
  expect(invented.map(newPasswordProblem)).toEqual(invented.map(() => null));
});

it("gives secrets to the service's group only as root", () => {
  expect(secretAccess(0, 990)).toEqual({ mode: 0o640, group: 990 });
  expect(secretAccess(1000, 990)).toEqual({ mode: 0o600, group: null });
  expect(secretAccess(0, null)).toEqual({ mode: 0o600, group: null });
});
