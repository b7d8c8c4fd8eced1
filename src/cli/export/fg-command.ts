/** The function block for one slot, in IEC 61131-3 structured text, as docs/examples/FG_Command.st has it. */
export const FG_COMMAND = `FUNCTION_BLOCK FG_Command
(* Sends one command at a time through a slot, each at most once. One instance for each slot. *)
VAR_INPUT
    Connected : BOOL;                      (* Answer was read over this connection, with status Good *)
    Answer    : ARRAY[0..19] OF DINT;      (* of the last read *)
    Ready     : BOOL;                      (* ReadyForCommand of the robot *)
    Execute   : BOOL;                      (* rising edge: send Wanted *)
    Wanted    : ARRAY[0..11] OF DINT;      (* the command; element 0 is filled in by this block *)
    Stop      : BOOL;                      (* rising edge: send StopWith, whatever is under way *)
    StopWith  : ARRAY[0..11] OF DINT;
    WriteBusy : BOOL;                      (* of the block that writes Command; a driver that *)
    WriteDone : BOOL := TRUE;              (* maps Command in every cycle leaves all three as they are *)
    WriteError : BOOL;                     (* the write may have arrived all the same *)
END_VAR
VAR_OUTPUT
    Command   : ARRAY[0..11] OF DINT;      (* to be written; it stays as it is while it is written *)
    DoWrite   : BOOL;                      (* TRUE until the write has ended: the Execute of its block *)
    CanExecute : BOOL;                     (* a rising edge of Execute would send Wanted now *)
    Busy      : BOOL;                      (* the command of Execute is under way *)
    Done      : BOOL;                      (* the robot took it: Outcome 3 or 7 *)
    Error     : BOOL;                      (* it ended otherwise: ErrorID says why *)
    CommandAborted : BOOL;                 (* Stop ended it; unless NotSent, it may have been done *)
    NotSent   : BOOL;                      (* nothing was or will be sent; wait 5 s before another try *)
    LookFirst : BOOL;                      (* nobody can tell: look at the robot before anything else *)
    Outcome   : DINT;                      (* of the slot, for the command of Execute; 0: it has none *)
    ErrorID   : DINT;                      (* of the gateway; below 0: of this block *)
    StopBusy  : BOOL;                      (* the same for Stop *)
    StopDone  : BOOL;
    StopError : BOOL;
    StopErrorID : DINT;
END_VAR
VAR RETAIN
    my      : DINT;                        (* the number in use *)
    active  : BOOL;                        (* a command is under way with it *)
    stopping : BOOL;                       (* and it is a stop *)
    adopted : BOOL;                        (* and an earlier life of this program sent it *)
    found   : BOOL;                        (* my was taken from NextId to ask for it: memory was lost *)
END_VAR
VAR
    closing : BOOL := TRUE;                (* after every start and lost connection: rule 4 *)
    picked, startWaits, stopWaits, displaced : BOOL;
    order, next, nothing : ARRAY[0..11] OF DINT;
    writing, written : BOOL;               (* Command is under way; it has arrived *)
    accepted : BOOL;
    i, beat, verdict : DINT;
    edge, wasExecuted, late : BOOL;              (* Execute that is TRUE at power-up is answered: NotSent *)
    stopEdge : R_TRIG;
    silence, second, tooLong, pause : TON;
END_VAR

(* The outputs of a command stay until Execute is FALSE, and for one call at least. *)
edge := Execute AND NOT wasExecuted;
wasExecuted := Execute;
IF edge OR NOT Execute THEN
    Done := FALSE;  Error := FALSE;  CommandAborted := FALSE;
    NotSent := FALSE;  LookFirst := FALSE;
    Outcome := 0;  ErrorID := 0;
END_IF;
IF NOT Execute THEN late := FALSE; END_IF;
IF edge AND Busy THEN late := TRUE;
ELSIF edge AND (NOT active OR stopping OR adopted) THEN
    IF NOT Connected THEN ErrorID := -1;
    ELSIF active OR closing OR stopWaits THEN ErrorID := -3;
    ELSIF NOT Ready THEN ErrorID := -2;
    ELSE
        startWaits := TRUE;
        order := Wanted;
    END_IF;
    Error := NOT startWaits;               (* it is not kept for later *)
    NotSent := Error;
END_IF;

stopEdge(CLK := Stop);
IF stopEdge.Q OR NOT Stop THEN
    StopDone := FALSE;  StopError := FALSE;  StopErrorID := 0;
END_IF;
IF stopEdge.Q THEN
    stopWaits := TRUE;  displaced := FALSE;
    IF startWaits THEN
        startWaits := FALSE;  CommandAborted := TRUE;  NotSent := TRUE;
    END_IF;
END_IF;

(* What could not be sent within 5 s is not sent later, but for a stop that is still asked for. *)
tooLong(IN := startWaits OR (stopWaits AND NOT Stop AND NOT (active AND stopping)), PT := T#5s);
IF tooLong.Q THEN
    IF startWaits THEN
        Error := TRUE;  NotSent := TRUE;  ErrorID := -4;
    ELSE
        StopError := TRUE;  StopErrorID := -4;
    END_IF;
    startWaits := FALSE;  stopWaits := FALSE;
END_IF;

IF NOT Connected THEN
    IF startWaits THEN
        startWaits := FALSE;  Error := TRUE;  NotSent := TRUE;  ErrorID := -1;
    END_IF;
    closing := TRUE;  picked := FALSE;
    DoWrite := FALSE;  writing := FALSE;  written := FALSE;
    CanExecute := FALSE;
    Busy := active AND NOT (stopping OR adopted);
    StopBusy := stopWaits OR (active AND stopping);
    RETURN;
END_IF;

(* What the gateway says of my number: rule 3. *)
verdict := 0;
IF my <> 0 AND Answer[9] = my THEN verdict := Answer[10]; END_IF;
accepted := verdict = 2;

IF closing AND NOT active AND NOT picked THEN
    (* Nothing is under way, but an old write may still be on its way: ask. Rule 4. *)
    IF my = 0 AND Answer[7] <> 0 THEN
        my := Answer[7];
        found := TRUE;
    END_IF;
    picked := my <> 0;
ELSIF accepted THEN
    IF NOT active THEN
        adopted := TRUE;  stopping := FALSE;
    END_IF;
    active := TRUE;  closing := FALSE;  found := FALSE;
ELSIF verdict > 2 THEN
    IF active AND stopping THEN
        IF verdict <> 3 THEN
            (* It goes again while it is asked for: at once, or 1 s after another stop displaced it. *)
            stopWaits := stopWaits OR Stop;
            displaced := verdict = 5;
            StopError := NOT stopWaits;
            IF StopError THEN StopErrorID := -1 - verdict; END_IF;
        ELSIF NOT stopWaits THEN
            StopDone := Answer[11] = 3 OR Answer[11] = 7;
            StopError := NOT StopDone;
            IF StopError THEN StopErrorID := Answer[3]; END_IF;
            IF Answer[11] = 8 THEN StopErrorID := -7; END_IF;
        END_IF;
    ELSIF active AND NOT adopted THEN
        IF verdict = 3 THEN
            Outcome := Answer[11];
            Done := Outcome = 3 OR Outcome = 7;
            NotSent := Outcome = 5 OR Outcome = 8;
            LookFirst := Outcome = 6;
            ErrorID := Answer[3];
            IF Done THEN ErrorID := 0; END_IF;
            IF Outcome = 8 THEN ErrorID := -7; END_IF;
        ELSE
            NotSent := verdict = 4;
            LookFirst := verdict = 5;
            CommandAborted := NotSent AND stopWaits;
            IF NOT CommandAborted THEN
                ErrorID := -1 - verdict;   (* -5 and -6 *)
                IF Answer[5] = my OR Answer[5] = -my THEN ErrorID := Answer[6]; END_IF;
            END_IF;
        END_IF;
        Error := NOT (Done OR CommandAborted);
    ELSIF (active OR found) AND verdict <> 4 THEN
        LookFirst := TRUE;                 (* an earlier life sent it: what it was is not known *)
    END_IF;
    active := FALSE;  closing := FALSE;  found := FALSE;
END_IF;

(* A stop takes the slot from a running command; of one that is not accepted yet it first makes sure. *)
IF stopWaits AND active AND NOT stopping THEN
    IF NOT accepted THEN closing := TRUE;
    ELSE
        IF NOT adopted THEN CommandAborted := TRUE; END_IF;
        active := FALSE;
    END_IF;
END_IF;

(* Take the number that NextId shows now. It is stored before it is written. Rule 1. *)
pause(IN := displaced, PT := T#1s);
IF Answer[7] <> 0 AND Answer[7] <> my AND NOT (active OR closing)
   AND (startWaits OR (stopWaits AND (pause.Q OR NOT displaced))) THEN
    my := Answer[7];
    active := TRUE;
    stopping := stopWaits;
    IF stopping THEN order := StopWith; END_IF;
    startWaits := FALSE;  stopWaits := FALSE;  displaced := FALSE;
    adopted := FALSE;  accepted := FALSE;
END_IF;

(* No verdict for 5 s: ask, once a second. Rule 4. *)
silence(IN := active AND NOT accepted AND NOT closing, PT := T#5s);
IF silence.Q THEN closing := TRUE; END_IF;
second(IN := closing AND NOT second.Q, PT := T#1s);
IF second.Q THEN beat := 1 - beat; END_IF;

next := nothing;
IF closing AND (active OR picked) THEN
    next[0] := -my;
    next[11] := beat;                      (* a driver that writes on change writes it again *)
ELSIF active THEN
    next := order;
    next[0] := my;
END_IF;

(* One write at a time. One that failed is repeated: nobody knows whether it has arrived. *)
IF writing THEN
    IF NOT WriteBusy THEN
        written := WriteDone AND NOT WriteError;
        writing := FALSE;  DoWrite := FALSE;
    END_IF;
ELSE
    FOR i := 0 TO 11 DO
        IF Command[i] <> next[i] THEN written := FALSE; END_IF;
    END_FOR;
    Command := next;
    writing := NOT written;  DoWrite := writing;
END_IF;

IF late AND (Done OR Error OR CommandAborted) THEN
    (* What the edge while Busy asked for was not sent; the answer is to the command before. *)
    Done := FALSE;  CommandAborted := FALSE;
    Error := TRUE;  NotSent := TRUE;
    Outcome := 0;  ErrorID := -3;
END_IF;
Busy := startWaits OR (active AND NOT (stopping OR adopted));
StopBusy := stopWaits OR (active AND stopping);
CanExecute := Ready AND NOT (Execute OR Busy OR StopBusy OR active OR closing)
              AND NOT (Done OR Error OR CommandAborted);
END_FUNCTION_BLOCK
`;
