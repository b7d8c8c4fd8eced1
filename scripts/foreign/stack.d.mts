/** What an adapter answers with if its client cannot be tried with something on this machine. */
export class NotRun extends Error {}
