import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hashPassword, isPassword } from "../../src/platform/password.ts";
import { apiKey, type ConfigFolder, createConfigFolder, minimal } from "./config-folder.ts";

/** As editors of Windows begin a file. */
const BOM = "\uFEFF";
const withUser = `${minimal}opcua: { users: { plc: { password: pw, role: operator } } }\n`;

let folder: ConfigFolder;
beforeEach(async () => {
  folder = await createConfigFolder();
});
afterEach(() => folder[Symbol.asyncDispose]());

const put = (name: string, content: Buffer) => writeFile(join(folder.path, name), content);
const utf16 = (text: string) => Buffer.from(BOM + text, "utf16le");

async function keptPassword(): Promise<string> {
  const secret = (await folder.config(withUser)).opcua?.users[0]?.secret;
  return secret === undefined || secret.kind === "none" ? "" : secret.text;
}

describe("a byte order mark is no part", () => {
  it("of a hash, which would count as the password itself", async () => {
    const hash = await hashPassword("correct horse");
    await folder.write("pw", `${BOM}${hash}\r\n`);
    const kept = await keptPassword();
    expect(await isPassword(kept, "correct horse")).toBe(true);
    expect(await isPassword(kept, hash)).toBe(false);
  });

  it("of a password, an API key or the configuration", async () => {
    await folder.write("pw", `${BOM}correct horse\r\n`);
    expect(await keptPassword()).toBe("correct horse");
    await folder.write("api-key.json", BOM + JSON.stringify(apiKey));
    expect(await folder.problems(BOM + minimal)).toEqual([]);
  });
});

describe("refused by its name", () => {
  it.each([
    ["UTF-16", utf16("correct horse\r\n")],
    ["UTF-16 without a mark", utf16("correct horse\r\n").subarray(2)],
    ["a zero byte", Buffer.from("correct\0horse\n")],
    ["a code page of Windows", Buffer.from([0x70, 0xe4, 0x73, 0x73, 0x0a])],
  ])("is a password file in %s", async (_, content) => {
    await put("pw", content);
    expect(await folder.problems(withUser)).toEqual([
      expect.stringContaining(`${join(folder.path, "pw")} is no UTF-8 text`),
    ]);
  });

  it("is an API key, or the configuration, in UTF-16", async () => {
    await put("api-key.json", utf16(JSON.stringify(apiKey)));
    expect(await folder.problems(minimal)).toEqual([
      expect.stringContaining(`${join(folder.path, "api-key.json")} is no UTF-8 text`),
    ]);
    expect(await folder.problems("\0")).toEqual([expect.stringContaining("the file is no UTF-8 text")]);
  });

  it.each(["correct horse ", " correct horse", "correct horse\t", "correct horse\u00A0"])(
    "is a password with a space that nobody sees: %j",
    async (password) => {
      await folder.write("pw", `${password}\r\n`);
      expect(await folder.problems(withUser)).toEqual([
        expect.stringMatching(/pw has a space or tab at an end of its first line/),
      ]);
    },
  );
});
