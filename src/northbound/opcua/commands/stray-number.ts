/**
 * What is wrong with `Command` if it has numbers that its operation does not use: the writer means another
 * command. Null: there are none. `numbers` follow the ticket. Not for stops: nothing that they do not use
 * holds them back.
 */
export function strayNumber(
  numbers: readonly number[],
  isUsed: (place: number) => boolean,
): { readonly problem: string } | null {
  const at = numbers.findIndex((number, index) => number !== 0 && !isUsed(index + 1));
  if (at === -1) return null;
  const place = at + 1;
  return { problem: `Command[${place}] is ${numbers[at]}, and this operation uses nothing there: write 0` };
}
