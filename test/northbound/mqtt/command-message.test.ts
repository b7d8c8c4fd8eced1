import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readCommandMessage } from "../../../src/northbound/mqtt/commands.ts";
import { MESSAGE_LIMIT_BYTES } from "../../../src/northbound/mqtt/message.ts";

function read(text: string) {
  return readCommandMessage(Buffer.from(text));
}

test("a message with all its fields", () => {
  expect(read('{"id":"c1","expires_at":"2026-01-02T03:04:05.5+01:00","request":{"a":1}}')).toEqual({
    ok: true,
    message: {
      id: "c1",
      expiresAtMs: Date.UTC(2026, 0, 2, 2, 4, 5, 500),
      expiresInMs: null,
      request: { a: 1 },
    },
  });
});

describe("what is wrong is said, with the id where there is one", () => {
  test.each([
    ['{"id":7,"request":{}}', "7", "id: must be 1 to 128 printable ASCII characters"],
    ['{"id":"","request":{}}', null, "id: must be 1 to 128 printable ASCII characters"],
    ['{"request":{}}', null, "id: is missing"],
    ['{"id":"c1","request":{},"expiresAt":"x"}', "c1", '"expiresAt": is not a field'],
    ['{"id":"c1","request":{},"__proto__":{}}', "c1", '"__proto__": is not a field'],
    [
      '{"id":"c1","request":{},"expires_at":"tomorrow"}',
      "c1",
      "expires_at: must be ISO 8601 with a zone, as 2026-01-31T12:00:00.000Z",
    ],
    ['{"id":"c1","request":{},"expires_at":1767322800000}', "c1", "expires_at:"],
    [
      '{"id":"c1","request":{},"expires_in_ms":0}',
      "c1",
      "expires_in_ms: must be a whole number of milliseconds, 1 to 86400000",
    ],
    ['{"id":"c1","request":{},"expires_in_ms":1.5}', "c1", "expires_in_ms:"],
    ['{"id":"c1","request":{},"expires_in_ms":"1000"}', "c1", "expires_in_ms:"],
    ['{"id":"c1","request":{},"expires_in_ms":86400001}', "c1", "expires_in_ms:"],
    ['{"id":"c1","request":{},"expires_in_ms":null}', "c1", "expires_in_ms:"],
    ['{"id":"c1","request":{},"expires_at":null}', "c1", "expires_at:"],
    ['{"id":null,"request":{}}', null, "id: is missing"],
    ['{"id":"c1","request":{},"expires_at":"2026-01-02T03:04:05"}', "c1", "expires_at:"],
    ['{"id":"c1","request":{},"expires_at":"2026-99-02T03:04:05Z"}', "c1", "expires_at:"],
    ['{"id":"c\\u00001","request":{}}', "c\u00001", "id: must be 1 to 128 printable ASCII characters"],
    ['{"id":"\\ud800","request":{}}', "\ud800", "id: must be 1 to"],
    [`{"id":"${"x".repeat(129)}","request":{}}`, "x".repeat(129), "id: must be 1 to"],
    [`{"id":"${"x".repeat(1001)}","request":{}}`, null, "id: must be 1 to"],
    [`{"id":"c1","request":{},"${"k".repeat(200)}":1}`, "c1", `"${"k".repeat(64)}…": is not a field`],
    ['{"id":"c1","request":{"a":1,"b":{},"a":2}}', "c1", 'request: has the key "a" twice'],
    ['{"id":"c1","request":{"a":[{},{"b":1,"\\u0062":2}]}}', "c1", 'request.a.1: has the key "b" twice'],
    ['{"id":"c1","request":{},"request":{}}', "c1", 'the message has the key "request" twice'],
    ['{"id":"c1","id":"c2","request":{}}', null, 'the message has the key "id" twice'],
    ['{"request":{"a":1,"a":1},"id":"c1","id":"c2"}', null, 'request: has the key "a" twice'],
    ["[]", null, 'the message must be a JSON object {"id","expires_in_ms"?,"expires_at"?,"request":{…}}'],
    ["", null, "not JSON"],
    ["{", null, "not JSON"],
    ['"c1"', null, "must be a JSON object"],
  ])("%j", (text, id, reason) => {
    const result = read(text);
    expect(result).toMatchObject({ ok: false, id, reason: expect.stringContaining(reason) });
  });

  test("bytes that are no UTF-8", () => {
    expect(readCommandMessage(Uint8Array.of(0x22, 0xff, 0xfe, 0x22))).toEqual({
      ok: false,
      id: null,
      reason: "the message is not UTF-8",
    });
  });

  test("more bytes than anybody needs are not even parsed", () => {
    const result = readCommandMessage(Buffer.alloc(MESSAGE_LIMIT_BYTES + 1, "["));
    expect(result).toMatchObject({
      ok: false,
      reason: "the message has 262145 bytes; at most 262144 are read",
    });
  });
});

test("no bytes make it throw", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 200 }),
      (bytes) => typeof readCommandMessage(bytes).ok === "boolean",
    ),
  );
  fc.assert(fc.property(fc.json(), (text) => typeof read(text).ok === "boolean"));
});
