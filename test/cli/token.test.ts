import { expect, it } from "vitest";
import { digestOf } from "../../src/platform/password.ts";
import { newFolder, TEST_TIMEOUT_MS } from "./program.ts";
import { piped } from "./typed.ts";

it(
  "prints another token each time, with the hash by which the gateway knows it",
  () => {
    const tokens = [1, 2].map(() => {
      const { code, out, err } = piped(newFolder(), ["token"], "");
      expect({ code, err }).toEqual({ code: 0, err: "" });
      const [, token = "", hash] =
        /^token: (fgt_[\w-]{43})\nhash: {2}sha256:([0-9a-f]{64})\n$/.exec(out) ?? [];
      expect(hash).toBe(digestOf(token).toString("hex"));
      return token;
    });
    expect(tokens[0]).not.toBe(tokens[1]);
  },
  TEST_TIMEOUT_MS,
);
