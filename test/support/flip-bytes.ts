import { readFileSync, writeFileSync } from "node:fs";

/** Changes one bit behind `text`, wherever it stands in the file: old copies of a page may still hold it. */
export function flipBehind(path: string, text: string, offset = 0): void {
  const file = readFileSync(path);
  let flips = 0;
  for (let at = file.indexOf(text); at >= 0; at = file.indexOf(text, at + 1)) {
    const place = at + text.length + offset;
    file[place] = (file[place] ?? 0) ^ 1;
    flips += 1;
  }
  if (flips === 0) throw new Error(`${path} does not hold ${text}`);
  writeFileSync(path, file);
}
