import { randomBytes, scryptSync } from "node:crypto";
import { expect, it } from "vitest";
import { hashPassword, isPassword, isPasswordHash, isUsableHash } from "../../src/platform/password.ts";
import { hashesOf } from "../support/hash-count.ts";

it("keeps a password as a hash, another one each time, and knows it again", async () => {
  const [kept, other] = [await hashPassword("Geheim ü 1"), await hashPassword("Geheim ü 1")];
  expect(kept).toMatch(/^scrypt:[A-Za-z0-9+/]{22}==:[A-Za-z0-9+/]{86}==$/);
  expect(kept).not.toBe(other);
  expect(kept).not.toContain("Geheim");
  expect(await isPassword(kept, "Geheim ü 1")).toBe(true);
  expect(await isPassword(other, Buffer.from("Geheim ü 1"))).toBe(true);
  expect(await isPassword(kept, "Geheim u 1")).toBe(false);
  expect(await isPassword(kept, kept)).toBe(false);
});

it("knows hashes that other programs have made with Node's default cost", async () => {
  const salt = randomBytes(9);
  const kept = `scrypt:${salt.toString("base64")}:${scryptSync("one", salt, 64).toString("base64")}`;
  expect(await isPassword(kept, "one")).toBe(true);
});

it("computes one hash for each password: for no user, a kept password, a kept hash, right or wrong", async () => {
  for (const kept of [null, "one", await hashPassword("one")]) {
    for (const given of ["one", "two"]) {
      let isRight = false;
      const hashes = await hashesOf(async () => {
        isRight = await isPassword(kept, given);
      });
      expect(hashes, `${kept} ${given}`).toBe(1);
      expect(isRight).toBe(kept !== null && given === "one");
    }
  }
});

it("compares what is no hash as it is, and never lets an empty password pass", async () => {
  expect(await isPassword("one", "one")).toBe(true);
  expect(await isPassword("one", "two")).toBe(false);
  expect(await isPassword("", "")).toBe(false);
  expect(await isPassword(await hashPassword(""), "")).toBe(false);
});

it.each(["scrypt:", "scrypt:abc", "scrypt:c2FsdA==:aGFzaA==", "scrypt:!!!!:????", "scrypt:a:b:c"])(
  "never takes %s for a password",
  async (text) => {
    expect(isPasswordHash(text)).toBe(true);
    expect(isUsableHash(text)).toBe(false);
    expect(await isPassword(text, text)).toBe(false);
  },
);
