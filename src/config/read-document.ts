import { fileProblem, type ReadFile, readPlainFile } from "../platform/plain-file.ts";
import type { SoundSections } from "./cross-checks.ts";
import {
  type ConfigDocument,
  type DocumentResult,
  LARGEST_CONFIGURATION_BYTES,
  readDocument,
} from "./document.ts";
import type { ConfigProblem } from "./finding.ts";
import { configSchema } from "./schema.ts";

/** Reads the configuration file itself, and none of the files that it names. Never rejects. */
export async function readConfigDocument(
  path: string,
  readFile: ReadFile = readPlainFile,
): Promise<DocumentResult> {
  const text = await readText(path, readFile);
  if (!text.ok) return text;
  const read = readDocument(text.text);
  if (!read.ok) return read;
  const { value } = read.document;
  return value === null || value === undefined ? unread("the file is empty") : read;
}

type TextResult = { readonly ok: true; readonly text: string } | Extract<DocumentResult, { ok: false }>;

async function readText(path: string, readFile: ReadFile): Promise<TextResult> {
  try {
    const { text } = await readFile(path, LARGEST_CONFIGURATION_BYTES);
    return { ok: true, text };
  } catch (error) {
    return unread(`the file ${fileProblem(error)}`);
  }
}

function unread(message: string): Extract<DocumentResult, { ok: false }> {
  return { ok: false, problems: [{ path: "", line: null, message }] };
}

/**
 * The sections that fit their schema, so that a mistake in one does not hide contradictions in the others.
 */
export function soundSections(document: ConfigDocument): SoundSections {
  const sound: Record<string, unknown> = {};
  const { value } = document;
  if (typeof value !== "object" || value === null) return {};
  for (const [key, section] of Object.entries(configSchema.shape)) {
    const parsed = section.safeParse(Reflect.get(value, key));
    if (parsed.success) sound[key] = parsed.data;
  }
  return sound as SoundSections;
}

/** The sections of the file that have problems of their own. */
export function unsoundSections(document: ConfigDocument): ReadonlySet<string> {
  const { value } = document;
  if (typeof value !== "object" || value === null) return new Set();
  const sound = soundSections(document);
  return new Set(Object.keys(value).filter((key) => !Object.hasOwn(sound, key)));
}

/** Problems by their lines. */
export function inOrder(problems: readonly ConfigProblem[]): readonly ConfigProblem[] {
  return [...problems].sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
}
