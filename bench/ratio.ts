import { quantile } from "./quantile.ts";

/** One side ÷ another, over blocks that alternate. */
export interface PairedRatio {
  readonly what: string;
  readonly median: number;
  /** The middle half of the pairs of neighbouring blocks lies between these. */
  readonly lower: number;
  readonly upper: number;
  readonly pairs: number;
}

/** Compares block by block: the two of a pair ran one after the other, and the machine drifts slower. */
export function pairedRatio(what: string, own: readonly number[], other: readonly number[]): PairedRatio {
  const ratios = own.map((figure, at) => figure / (other[at] ?? Number.NaN));
  return {
    what,
    median: quantile(ratios, 0.5),
    lower: quantile(ratios, 0.25),
    upper: quantile(ratios, 0.75),
    pairs: ratios.length,
  };
}

/** One line a ratio. */
export function ratioLines(ratios: readonly PairedRatio[]): string {
  return ratios
    .map(({ what, median, lower, upper, pairs }) => {
      const spread =
        pairs > 1 ? `; half of ${pairs} pairs from ${lower.toFixed(3)} to ${upper.toFixed(3)}` : "";
      return `  ${what}: ${median.toFixed(3)}${spread}`;
    })
    .join("\n");
}
