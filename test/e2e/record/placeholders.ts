/** What no run can repeat, and what stands for it in the record. */
export interface Placeholder {
  readonly pattern: RegExp;
  readonly stands: string;
}

const placeholders: readonly Placeholder[] = [
  // Times of the wall clock, also as a terminal shows them in its time zone.
  { pattern: /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z/g, stands: "<time>" },
  { pattern: /\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b/g, stands: "<time>" },
  // Since the start of the gateway, and until a certificate ends that it has made for itself.
  { pattern: /\b\d+ \w+( \d+ \w+)? (ago|left {2}ends)/g, stands: "<duration> $2" },
  // Values of the start are received while the clock stands still, or one step later.
  { pattern: /"(age_ms|for_ms)":\d+/g, stands: '"$1":<duration>' },
  { pattern: /(\.AgeSeconds Double )[\d.]+/g, stands: "$1<duration>" },
  // The numbers of slots are random, and the slots draw them in any order.
  { pattern: /(\.NextId Int32 |\.Answer Int32\[\] \[(?:\d+,){7})\d+/g, stands: "$1<number>" },
  // Points of a trend lie on full minutes of the wall clock.
  { pattern: /"charge_percent":\[[^\]]*\]/g, stands: '"charge_percent":[<trend>]' },
  { pattern: /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, stands: "<uuid>" },
  // Events are numbered as they come: which of two robots comes first is open.
  { pattern: /<uuid>-\d+/g, stands: "<uuid>-<n>" },
  // Ids of events that a restart may give again, and of alarms, are made of such an id and of times.
  { pattern: /"event_id":"[\w-]{22}"/g, stands: '"event_id":"<id>"' },
  { pattern: /\b([A-Z][A-Z_0-9]+)-[0-9a-z]{8}\b/g, stands: "$1-<id>" },
  { pattern: /"next":"[\w-]{20,}"/g, stands: '"next":"<cursor>"' },
  // The configuration has ports and folders.
  {
    pattern: /("(?:hash|hash_before|config_hash)":|ConfigHash String )"[0-9a-f]{16}"/g,
    stands: '$1"<hash>"',
  },
  { pattern: /\b(127\.0\.0\.1|localhost):\d+/g, stands: "$1:<port>" },
  { pattern: /^( {2}(?:disk|memory) +)[\d.]+ [MG]B/gm, stands: "$1<size>" },
];

/** A text of the run, as the record has it. `folder` is the run's own. */
export function stable(text: string, folder: string): string {
  return placeholders.reduce(
    (done, { pattern, stands }) => done.replace(pattern, stands),
    text.replaceAll(folder, "<folder>"),
  );
}
