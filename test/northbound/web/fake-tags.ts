import type { TagFacts, TagGroup, TagReading, TagSource, TagView } from "../../../src/contracts/tags.ts";

/** A tag with a value that is good, and what a test says of it. */
export function fakeTag(
  name: string,
  reading: Partial<TagReading> = {},
  facts: Partial<TagFacts> = {},
): TagView {
  return {
    name,
    facts: () => ({ description: null, unit: null, meaning: null, ...facts }),
    read: () => ({
      value: 1,
      type: "Int32",
      quality: "good",
      status: "Good",
      sourceTimeMs: null,
      receivedAtMs: 0,
      ...reading,
    }),
  };
}

export function fakeGroup(owner: Partial<TagGroup>, ...tags: readonly TagView[]): TagGroup {
  return { robotId: null, station: null, tags: () => tags, ...owner };
}

export function fakeTags(source: Partial<TagSource>, ...groups: readonly TagGroup[]): TagSource {
  return {
    protocol: "opcua",
    prefix: "ns=2;s=",
    missingRobots: () => 0,
    groups: () => groups,
    subjectOf: () => null,
    ...source,
  };
}
