/** Knows the empty messages that come back when the gateway clears a retained command. */
export function createClearing() {
  const expected = new Set<string>();
  return {
    expect: (topic: string) => expected.add(topic),
    echo: (topic: string) => expected.delete(topic),
    reset: () => expected.clear(),
  };
}
