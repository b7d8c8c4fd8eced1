/** The function block of docs/plc.md for one slot, in IEC 61131-3 structured text, as the page shows it. */
export const FG_COMMAND = `FUNCTION_BLOCK FG_Command
(* Sends one command at a time through a slot, each at most once. One instance for each slot. *)
VAR_INPUT
    Connected : BOOL;                      (* Answer was read in this cycle, with status Good *)
    Answer    : ARRAY[0..19] OF DINT;
    UserNo    : DINT;                      (* opcua.users.<name>.number of this PLC; 0: it has none *)
    Ready     : BOOL;                      (* ReadyForCommand of the robot *)
    Start     : BOOL;                      (* rising edge: send Wanted; see below *)
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
    Busy      : BOOL;
    Done      : BOOL;                      (* it has ended: Outcome and ErrorId are its own *)
    NotSent   : BOOL;                      (* nothing was or will be sent; wait 5 s before another try *)
    LookFirst : BOOL;                      (* nobody can tell: look at the robot before anything else *)
    Outcome   : DINT;
    ErrorId   : DINT;
END_VAR
VAR RETAIN
    my      : DINT;                        (* the number in use *)
    active  : BOOL;                        (* a command is under way with it *)
    stopping : BOOL;                       (* and it is a stop *)
END_VAR
VAR
    closing : BOOL := TRUE;                (* after every start and lost connection: rule 7 *)
    picked, adopted, startWaits, stopWaits : BOOL;
    order, next, nothing : ARRAY[0..11] OF DINT;
    writing, written : BOOL;               (* Command is under way; it has arrived *)
    fresh, accepted, ended, closed, unclear : BOOL;
    i, beat : DINT;
    lastStart : BOOL := TRUE;              (* a button that is pressed at power-up is no edge *)
    stopEdge : R_TRIG;
    silence, second, tooLong : TON;
END_VAR

stopEdge(CLK := Stop);
IF stopEdge.Q THEN
    stopWaits := TRUE;  startWaits := FALSE;
    Done := FALSE;  NotSent := FALSE;
ELSIF Start AND NOT lastStart AND NOT active AND NOT stopWaits THEN
    Done := FALSE;  LookFirst := FALSE;
    startWaits := Connected AND Ready AND NOT closing;
    NotSent := NOT startWaits;             (* it is not kept for later *)
    order := Wanted;
END_IF;
lastStart := Start;

(* What could not be sent within 5 s is not sent later, but for a stop that is still asked for. *)
tooLong(IN := startWaits OR (stopWaits AND NOT Stop), PT := T#5s);
IF tooLong.Q THEN
    startWaits := FALSE;  stopWaits := FALSE;
    NotSent := TRUE;
END_IF;

IF NOT Connected THEN
    closing := TRUE;  picked := FALSE;
    DoWrite := FALSE;  writing := FALSE;  written := FALSE;
    Busy := TRUE;
    RETURN;
END_IF;

(* Is NextId new, and what does the gateway say of my number? Rules 3 to 6. *)
fresh := Answer[7] <> 0 AND Answer[7] <> my AND Answer[7] <> Answer[0] AND Answer[7] <> Answer[1];
accepted := my <> 0 AND Answer[0] = my;
ended := my <> 0 AND Answer[1] = my;
closed := FALSE;
unclear := FALSE;
FOR i := 12 TO 19 DO
    IF Answer[i] = Answer[7] THEN fresh := FALSE; END_IF;
    IF my <> 0 AND Answer[i] = my THEN closed := TRUE; END_IF;
    IF my <> 0 AND Answer[i] = -my THEN unclear := TRUE; END_IF;
END_FOR;

IF closing AND NOT active AND NOT picked THEN
    (* Nothing is under way, but an old write may still be on its way: close what is open. *)
    IF Answer[7] <> 0 THEN
        my := Answer[7];
        picked := TRUE;
    END_IF;
ELSIF (accepted OR ended) AND Answer[0] = my AND Answer[8] <> UserNo THEN
    (* Another user has taken this number: mine was not and will not be sent. Rule 2. *)
    IF active AND stopping THEN stopWaits := TRUE;
    ELSIF active THEN NotSent := TRUE; END_IF;
    active := FALSE;  closing := FALSE;
ELSIF ended THEN
    IF active AND accepted AND NOT adopted THEN
        Done := TRUE;
        Outcome := Answer[2];
        ErrorId := Answer[3];
    ELSIF active OR closing THEN
        LookFirst := TRUE;                 (* it ended, and how is not shown here any more *)
    END_IF;
    active := FALSE;  closing := FALSE;
ELSIF accepted THEN
    IF NOT active THEN adopted := TRUE; END_IF;    (* of an earlier life of this program. Rule 8. *)
    active := TRUE;  closing := FALSE;
ELSIF closed OR unclear THEN
    IF active AND stopping THEN stopWaits := TRUE; (* for a stop Closed proves nothing: again, at once *)
    ELSIF active AND closed THEN NotSent := TRUE;
    ELSIF active OR unclear THEN LookFirst := TRUE; END_IF;
    active := FALSE;  closing := FALSE;
END_IF;

(* Somebody must look at the robot first, and then decide anew whether to start. *)
IF LookFirst AND startWaits THEN
    startWaits := FALSE;
    NotSent := TRUE;
END_IF;

(* A stop takes the slot from a running command; of one that is not accepted yet it first makes sure. *)
IF stopWaits AND active AND NOT stopping THEN
    IF accepted THEN
        LookFirst := TRUE;
        active := FALSE;
    ELSE
        closing := TRUE;
    END_IF;
END_IF;

(* Take the number that NextId shows now. It is stored before it is written. Rule 3. *)
IF fresh AND NOT active AND NOT closing AND (startWaits OR stopWaits) THEN
    my := Answer[7];
    active := TRUE;
    stopping := stopWaits;
    IF stopping THEN order := StopWith; END_IF;
    startWaits := FALSE;  stopWaits := FALSE;  adopted := FALSE;  accepted := FALSE;
END_IF;

(* No news for 5 s: close the number, and write that once a second. Rule 7. *)
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
Busy := active OR closing OR startWaits OR stopWaits;
END_FUNCTION_BLOCK
`;
