/** One time series of a scrape. */
export interface ScrapedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A scrape, read strictly. */
export interface Exposition {
  /** Type and help by the name of the metric. */
  readonly metrics: ReadonlyMap<string, { readonly type: string; readonly help: string }>;
  readonly samples: readonly ScrapedSample[];
  /** Every name under which samples are stored: those of histograms with their endings. */
  readonly seriesNames: ReadonlySet<string>;
  /** The value of the one sample with at least these labels. */
  value(name: string, labels?: Readonly<Record<string, string>>): number;
}

const sampleLine = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const labelPair = /(\w+)="((?:[^"\\]|\\.)*)"(?:,|$)/g;

/** Reads Prometheus' text format. Throws where a line is none of it. */
export function readExposition(text: string): Exposition {
  const metrics = new Map<string, { type: string; help: string }>();
  const samples: ScrapedSample[] = [];
  for (const line of text.split("\n").filter((each) => each !== "")) {
    const [, kind, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (kind === undefined) samples.push(readSample(line));
    else if (kind === "HELP") metrics.set(name, { type: "", help: rest });
    else metrics.set(name, { help: metrics.get(name)?.help ?? "", type: rest });
  }
  const seriesNames = new Set(
    [...metrics].flatMap(([name, { type }]) =>
      type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
  return {
    metrics,
    samples,
    seriesNames,
    value(name, labels = {}) {
      const found = samples.filter(
        (sample) =>
          sample.name === name &&
          Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
      );
      const [only] = found;
      if (only === undefined || found.length > 1)
        throw new Error(`${found.length} samples of ${name} with ${JSON.stringify(labels)}`);
      return only.value;
    },
  };
}

function readSample(line: string): ScrapedSample {
  const [, name = "", labels = "", value = ""] = sampleLine.exec(line) ?? [];
  if (name === "" || Number.isNaN(Number(value.replace("+Inf", "Infinity"))))
    throw new Error(`no line of a scrape: ${line}`);
  const pairs = Array.from(labels.matchAll(labelPair), ([, label = "", text = ""]) => [label, text]);
  return { name, labels: Object.fromEntries(pairs), value: Number(value.replace("+Inf", "Infinity")) };
}
