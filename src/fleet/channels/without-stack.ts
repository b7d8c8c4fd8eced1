/**
 * Begins a call of grpc-js, which takes a stack trace of each for an error that it may end with. Here an
 * ending is a value and the trace is not read; taking it showed in the profile of 2,000 commands a second.
 */
export function withoutStack<Call>(begin: () => Call): Call {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return begin();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
