import { expect, it } from "vitest";
import type { Mirror, MirrorListener } from "../../src/cluster/protocol/mirror.ts";
import { createKnownKeys } from "../../src/cluster/protocol/mirror.ts";

/** A mirror that knows all up to a revision. It has no key. */
function emptyMirror() {
  let revision = 0;
  let listen: MirrorListener = () => {};
  const mirror = {
    get: () => undefined,
    range: () => [],
    revision: () => revision,
    subscribe(listener: MirrorListener) {
      listen = listener;
      return () => true;
    },
  } as unknown as Mirror;
  return {
    mirror,
    remove(key: string, at: number) {
      listen(key, null, at);
      revision = at;
    },
  };
}

it.each([
  ["before the change comes by the watch", ["note", "remove"]],
  ["after it", ["remove", "note"]],
] as const)(
  "a key is forgotten when the mirror knows it: the answer to the write comes %s",
  (_what, order) => {
    const { mirror, remove } = emptyMirror();
    const keys = createKnownKeys(mirror);
    for (const step of order) {
      if (step === "note") keys.note([{ key: "table/a/1", value: null }], 7);
      else remove("table/a/1", 7);
    }
    expect(keys.range("table/a/")).toEqual([]);
  },
);
