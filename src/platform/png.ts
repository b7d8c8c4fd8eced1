/** The size of a picture in pixels. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** A browser holds four bytes of memory for each pixel, however small the file is. */
const MOST_PIXELS = 32_000_000;

/** The size of a PNG, from its header; null: it is no PNG. */
export function pngSize(bytes: Buffer): PictureSize | null {
  const isPng = bytes.length >= 33 && bytes.subarray(0, 8).equals(SIGNATURE);
  if (!isPng || bytes.toString("latin1", 12, 16) !== "IHDR") return null;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** Why bytes are not a PNG that a page may show, as the end of a sentence; null: they are one. */
export function pngProblem(bytes: Buffer): string | null {
  const size = pngSize(bytes);
  if (size === null) return "is no PNG";
  const { width, height } = size;
  if (width === 0 || height === 0 || width * height > MOST_PIXELS)
    return `has ${width} × ${height} pixels; at most ${MOST_PIXELS} in all, and one at least, can be shown`;
  return null;
}
