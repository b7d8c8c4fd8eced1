/**
 * How the service ended a command, as a program reads it from `Outcome` and `ErrorId`. `unsent`: it never
 * left.
 */
export type Ending = "succeeded" | "refused" | "unsent" | "unknown";

/** What a program wants once. Both parameters of its command carry its id. */
export interface Intention {
  readonly id: number;
  readonly user: number;
  readonly kind: "start" | "stop";
  /** The numbers under which its program has asked for it. */
  readonly numbers: readonly number[];
  readonly sendings: number;
}

/** A command as the service received it. */
export interface SentCommand {
  readonly number: number;
  readonly user: number;
  readonly a: number;
  readonly b: number;
}

/** What really happened, which nobody in the model can see; it is compared with what programs believe. */
export interface Facts {
  intentions: readonly Intention[];
  sent: readonly SentCommand[];
  /** The endings that the slot has given to its numbers. */
  endings: readonly { readonly number: number; readonly ending: Ending }[];
  /** Numbers whose programs have concluded that nothing was or will be sent under them. */
  unsent: readonly { readonly number: number; readonly user: number }[];
  /** The first rule that was broken, in words. */
  violation: string | null;
}

export function noFacts(): Facts {
  return { intentions: [], sent: [], endings: [], unsent: [], violation: null };
}

/** A program wants something new. Returns its id. */
export function addIntention(facts: Facts, user: number, kind: Intention["kind"]): number {
  const id = facts.intentions.length + 1;
  facts.intentions = [...facts.intentions, { id, user, kind, numbers: [], sendings: 0 }];
  return id;
}

export function intentionOf(facts: Facts, id: number): Intention | undefined {
  return facts.intentions[id - 1];
}

/** A program will write this number for its intention. */
export function noteAsked(facts: Facts, id: number, number: number): void {
  replace(facts, id, (intention) => ({ ...intention, numbers: [...intention.numbers, number] }));
}

/** A command has reached the service. */
export function noteSent(facts: Facts, command: SentCommand): void {
  const { number, user, a, b } = command;
  const intention = intentionOf(facts, a);
  if (a !== b) fail(facts, `${number} was sent with the parameters of two intentions, ${a} and ${b}`);
  if (intention === undefined || intention.user !== user) {
    fail(facts, `${number} was sent for user ${user} with the parameters of somebody else`);
    return;
  }
  if (!intention.numbers.includes(number)) {
    fail(facts, `${number} was sent for intention ${a}, which did not ask under it`);
  }
  if (facts.sent.some((each) => each.number === number)) fail(facts, `${number} was sent twice`);
  if (intention.kind === "start" && intention.sendings > 0) fail(facts, `intention ${a} was sent twice`);
  if (isBelievedUnsent(facts, number, user)) {
    fail(facts, `${number} was sent after its program concluded that it never will be`);
  }
  facts.sent = [...facts.sent, command];
  replace(facts, a, (each) => ({ ...each, sendings: each.sendings + 1 }));
}

/** A program concludes that nothing was or will be sent for its start under this number. */
export function noteUnsent(facts: Facts, number: number, user: number): void {
  if (isSentFor(facts, number, user)) {
    fail(facts, `the program of user ${user} concluded that ${number} was not sent, and it was`);
  }
  facts.unsent = [...facts.unsent, { number, user }];
}

/** A program believes how the command of its intention ended. */
export function noteEnding(facts: Facts, id: number, number: number, ending: Ending): void {
  const intention = intentionOf(facts, id);
  if (intention === undefined) return;
  if (!facts.endings.some((each) => each.number === number && each.ending === ending)) {
    fail(facts, `intention ${id} believes that ${number} ended ${ending}, and the slot never ended it so`);
  }
  const command = facts.sent.find((each) => each.number === number);
  const isOwn = command !== undefined && command.a === id && command.user === intention.user;
  if (ending === "unsent") {
    if (intention.kind === "start") noteUnsent(facts, number, intention.user);
  } else if (ending !== "unknown" && !isOwn) {
    fail(facts, `intention ${id} believes that ${number} was its own and ${ending}, and it was not sent`);
  } else if (command !== undefined && !isOwn) {
    fail(facts, `intention ${id} takes ${number} for its own, and it is another's`);
  }
}

export function fail(facts: Facts, violation: string): void {
  facts.violation ??= violation;
}

function isSentFor(facts: Facts, number: number, user: number): boolean {
  return facts.sent.some((each) => each.number === number && each.user === user);
}

function isBelievedUnsent(facts: Facts, number: number, user: number): boolean {
  return facts.unsent.some((each) => each.number === number && each.user === user);
}

function replace(facts: Facts, id: number, change: (intention: Intention) => Intention): void {
  facts.intentions = facts.intentions.map((each) => (each.id === id ? change(each) : each));
}
