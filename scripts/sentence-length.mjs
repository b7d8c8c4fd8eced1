/** The most words that a sentence may have (docs/develop.md, Words). */
export const MOST_WORDS = 30;

const sentences = new Intl.Segmenter("en", { granularity: "sentence" });
/** Ends of abbreviations, after which the segmenter sees a new sentence. */
const abbreviation = /\b(?:e\.g|i\.e|etc|vs)\.$/;

/**
 * A rule of textlint: a sentence of a paragraph, a list or a table has at most `MOST_WORDS` words.
 * Inline code is one word. What stands between two periods, question or exclamation marks is a sentence.
 */
export function sentenceLength({ Syntax, RuleError, report }) {
  const check = (node) => {
    for (const sentence of sentencesOf(plainText(node))) {
      const words = wordsOf(sentence);
      if (words.length <= MOST_WORDS) continue;
      const where = `${words.slice(0, 6).join(" ")} …`;
      report(node, new RuleError(`${words.length} words, at most ${MOST_WORDS}: ${where}`));
    }
  };
  return { [Syntax.Paragraph]: check, [Syntax.TableCell]: check, [Syntax.Header]: check };
}

function plainText(node) {
  if (node.type === "Code") return "Code";
  if (node.type === "Break") return " ";
  if (node.children) return node.children.map(plainText).join("");
  return node.value ?? "";
}

function sentencesOf(text) {
  const found = [""];
  for (const { segment } of sentences.segment(text.replace(/\s+/g, " "))) {
    found.push(found.pop() + segment);
    if (!abbreviation.test(segment.trim())) found.push("");
  }
  return found;
}

function wordsOf(sentence) {
  return sentence.split(" ").filter((word) => /[\p{L}\p{N}]/u.test(word));
}
