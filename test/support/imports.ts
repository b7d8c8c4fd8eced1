/** One import, re-export, dynamic import or type import of a file. */
export interface Import {
  readonly specifier: string;
}

/**
 * Code without its comments. Strings are kept, so that `"//"` in one begins no comment.
 */
export function withoutComments(text: string): string {
  return text.replace(stringOrComment, (match) => (/^\/[/*]/.test(match) ? " " : match));
}

const stringOrComment =
  /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;

const importing = /(?:\bfrom\s*|\bimport\s*\(\s*|\bimport\s+|\brequire\s*\(\s*)(?:"([^"\n]+)"|'([^'\n]+)')/g;

/** Everything that a file imports, in its order: static, type only, re-exported, dynamic or required. */
export function importsOf(text: string): readonly Import[] {
  return [...withoutComments(text).matchAll(importing)].map((match) => ({
    specifier: match[1] ?? match[2] ?? "",
  }));
}
