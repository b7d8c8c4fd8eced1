import { parseStructuredText } from "./parser.ts";
import type { Declaration } from "./syntax.ts";

/** The time of the present cycle, which only the standard blocks see. */
export const clock: Declaration = {
  at: { line: 1, column: 1 },
  name: "clock",
  section: "VAR_GLOBAL",
  retain: false,
  type: { kind: "TIME" },
  initial: null,
};

/** The standard function blocks, as IEC 61131-3 describes them: edge detection and timers. */
export const standardBlocks = parseStructuredText(`
FUNCTION_BLOCK R_TRIG
VAR_INPUT  CLK : BOOL; END_VAR
VAR_OUTPUT Q : BOOL; END_VAR
VAR        last : BOOL; END_VAR
    Q := CLK AND NOT last;
    last := CLK;
END_FUNCTION_BLOCK

(* In the first cycle, Q is TRUE if CLK is FALSE: so the standard says. *)
FUNCTION_BLOCK F_TRIG
VAR_INPUT  CLK : BOOL; END_VAR
VAR_OUTPUT Q : BOOL; END_VAR
VAR        last : BOOL; END_VAR
    Q := NOT CLK AND NOT last;
    last := NOT CLK;
END_FUNCTION_BLOCK

FUNCTION_BLOCK TON
VAR_INPUT  IN : BOOL; PT : TIME; END_VAR
VAR_OUTPUT Q : BOOL; ET : TIME; END_VAR
VAR        running : BOOL; began : TIME; END_VAR
    IF NOT IN THEN
        running := FALSE;
        ET := T#0s;
    ELSE
        IF NOT running THEN running := TRUE; began := clock; END_IF;
        ET := MIN(clock - began, PT);
    END_IF;
    Q := IN AND ET >= PT;
END_FUNCTION_BLOCK

FUNCTION_BLOCK TOF
VAR_INPUT  IN : BOOL; PT : TIME; END_VAR
VAR_OUTPUT Q : BOOL; ET : TIME; END_VAR
VAR        running : BOOL; began : TIME; END_VAR
    IF IN THEN
        Q := TRUE;
        running := FALSE;
        ET := T#0s;
    ELSIF Q THEN
        IF NOT running THEN running := TRUE; began := clock; END_IF;
        ET := MIN(clock - began, PT);
        Q := ET < PT;
    END_IF;
END_FUNCTION_BLOCK
`).units;
