import type { FunctionBlock, SclStructure } from "./function-block.ts";

/**
 * The function block for a load station, in IEC 61131-3 structured text (docs/load-station.md, In an
 * afternoon).
 */
export const FG_LOAD_STATION = `FUNCTION_BLOCK FG_LoadStation
(* Loads and unloads the robots of one station. Call it in every cycle. One instance for each station. *)
VAR_INPUT
    Connected : BOOL;                      (* the station's tags were read in this cycle, with status Good *)
    Answer    : ARRAY[0..19] OF DINT;      (* Slot.Answer *)
    Leased    : BOOL;                      (* Slot.Leased *)
    Valid     : BOOL;                      (* FALSE if a tag of the station has another status than Good *)
    RobotHere : BOOL;
    RobotHereNo : DINT;
    Loaded    : ARRAY[0..7] OF BOOL;
    Rolling   : ARRAY[0..7] OF BOOL;
    Permitted : BOOL := TRUE;              (* a station without a permit leaves it as it is *)
    WriteBusy : BOOL;                      (* of the block that writes Command, as for FG_Command *)
    WriteDone : BOOL := TRUE;
    WriteError : BOOL;
    Enable    : BOOL;                      (* the station works; FALSE stops both conveyors *)
    Load      : BOOL;                      (* a level: load the robot that is here *)
    Unload    : BOOL;                      (* a level: unload it; with both or neither it waits *)
    Reset     : BOOL;                      (* rising edge: a person has looked, begin anew *)
    Ready     : BOOL;                      (* your conveyor may turn: its drive, its guards *)
    InPlace   : BOOL;                      (* your sensor sees a robot in its place *)
    Occupied  : BOOL;                      (* your photo-eye: a load is on your conveyor *)
    Turning   : BOOL;                      (* your conveyor turns; without such a signal connect Run *)
    Conveyor  : DINT := 1;                 (* index of the robot's conveyor, 0 to 7 *)
    GoOn      : DINT;                      (* then: to this destination number; 0: others send it on *)
    LinkTime  : TIME := T#1s;              (* older tags do not count *)
    OwnTime   : TIME := T#2s;              (* your conveyor obeys Run within this *)
    LeaseTime : TIME := T#30s;
    ReadyTime : TIME := T#60s;
    RollTime  : TIME := T#5s;
    MoveTime  : TIME := T#30s;
    StopTime  : TIME := T#10s;
    GoTime    : TIME := T#30s;
    LeaveTime : TIME := T#60s;
END_VAR
VAR_OUTPUT
    Command   : ARRAY[0..11] OF DINT;      (* to Slot.Command, as of FG_Command *)
    DoWrite   : BOOL;
    Heartbeat : DINT;                      (* to Slot.Heartbeat *)
    Permit    : BOOL;                      (* to Permit *)
    Run       : BOOL;                      (* your conveyor is to turn; FALSE on every doubt *)
    Inward    : BOOL;                      (* it turns away from the robot: unload *)
    StepNo    : DINT;                      (* 0 to 10, see the page *)
    Busy      : BOOL;                      (* steps 2 to 8: it works with the robot *)
    Done      : BOOL;                      (* the robot was served; until the next one is here *)
    Error     : BOOL;                      (* step 10: it calls a person *)
    ErrorID   : DINT;                      (* and why *)
    FaultStep : DINT;                      (* and in which step that was *)
    LookFirst : BOOL;                      (* nobody can tell: look at the robot before Reset *)
    Outcome   : DINT;                      (* of the last command, other than a stop, and why it failed: *)
    CommandErrorID : DINT;                 (* as ErrorID of FG_Command *)
END_VAR
VAR RETAIN
    robot     : DINT;                      (* the robot that is served *)
    turns     : BOOL;                      (* its conveyor turns, or may: it must be stopped *)
    goesOn    : BOOL;                      (* it was told to go on, or may have been, or is not told *)
    wasTold   : BOOL;                      (* and that is sure: the slot's number is the release's *)
    alive     : BOOL;                      (* FALSE: this memory is new *)
END_VAR
VAR
    slot      : FG_Command;
    order, halt : ARRAY[0..11] OF DINT;
    told      : ARRAY[0..19] OF DINT;      (* Answer of the last read *)
    begun, waits, known, here, rolls, agreed, startable, unloads, finished, doubt : BOOL;
    unsure    : BOOL;                      (* a start of the robot's conveyor may still come *)
    place, before : DINT;
    phase     : DINT;                      (* of a command: 1 to ask, 2 asked, 3 ended, 4 pause, 5 of before *)
    result    : DINT;                      (* of it: 1 done, 2 refused, 3 nobody can tell, 4 not sent *)
    stopPhase : DINT;                      (* 0 to ask, 1 asked, 2 ended *)
    clean, stopOk : BOOL;
    lastReset : BOOL := TRUE;
    reason    : DINT;
    allowed   : TIME;
    linkLost, ownLate, late, pause, again, beat, watched : TON;
END_VAR

(* After a start. What moves is stopped, and what was told to go on is not told so again. *)
IF NOT begun THEN
    begun := TRUE;
    IF turns THEN
        ErrorID := 13;  StepNo := 10;  unsure := TRUE;
    ELSIF goesOn THEN
        StepNo := 7;  phase := 5;  finished := TRUE;
        IF wasTold THEN StepNo := 8; END_IF;
    END_IF;
END_IF;

(* Between two reads the last one counts, but not for longer than LinkTime. *)
linkLost(IN := NOT Connected, PT := LinkTime);
known := Valid AND NOT linkLost.Q;
here := known AND RobotHere AND robot <> 0 AND RobotHereNo = robot;
place := 0;
IF Conveyor >= 0 AND Conveyor <= 7 THEN place := Conveyor; END_IF;
rolls := here AND Rolling[place];
agreed := here AND Loaded[place] <> unloads AND Occupied = unloads;
startable := here AND Loaded[place] = unloads AND Occupied <> unloads;
ownLate(IN := Turning <> Run, PT := OwnTime);

CASE StepNo OF
    2: allowed := LeaseTime;
    3: allowed := ReadyTime;
    4: allowed := RollTime;
    5: allowed := MoveTime;
    6: allowed := StopTime;
    7, 8: allowed := GoTime;
    9: allowed := LeaveTime;
ELSE
    allowed := T#0s;
END_CASE;
waits := StepNo = 9 AND GoOn = 0;          (* nobody knows when others send it *)
IF StepNo <> before THEN late(IN := FALSE, PT := allowed); END_IF;
before := StepNo;
late(IN := StepNo >= 2 AND StepNo <= 9 AND NOT waits, PT := allowed);

(* What stops both conveyors, whatever else is true. *)
reason := 0;
IF StepNo >= 4 AND StepNo <= 6 THEN
    IF linkLost.Q THEN reason := 1;
    ELSIF NOT Valid THEN reason := 2;
    ELSIF NOT here OR NOT InPlace THEN reason := 3;
    ELSIF NOT Leased THEN reason := 4;
    ELSIF NOT Permitted AND StepNo < 6 THEN reason := 5;
    ELSIF NOT (Ready AND Enable) AND StepNo < 6 THEN reason := 6;
    ELSIF StepNo = 5 AND NOT rolls AND NOT agreed THEN reason := 7;
    ELSIF ownLate.Q THEN reason := 8;
    END_IF;
ELSIF (StepNo = 3 OR StepNo = 7 OR StepNo = 8) AND rolls AND Leased THEN
    reason := 15;  turns := TRUE;          (* nobody has asked it to *)
END_IF;

IF reason = 0 THEN
    CASE StepNo OF
        0:                                 (* off *)
            IF Enable THEN StepNo := 1; END_IF;
        1:                                 (* a robot comes *)
            IF NOT Enable THEN
                StepNo := 0;
            ELSIF known AND NOT RobotHere AND NOT InPlace THEN
                alive := TRUE;
            ELSIF known AND RobotHere AND InPlace AND (Load XOR Unload) THEN
                robot := RobotHereNo;  unloads := Unload;
                Done := FALSE;  doubt := FALSE;  finished := FALSE;
                IF NOT alive THEN reason := 13;
                ELSIF robot = 0 OR place <> Conveyor THEN reason := 14;
                ELSE StepNo := 2;  phase := 1;  result := 0; END_IF;
            END_IF;
        2:                                 (* the lease *)
            IF (known AND NOT here) OR NOT Enable THEN StepNo := 8;  phase := 1;
            ELSIF phase = 3 AND result <> 1 THEN phase := 4;
            ELSIF phase = 3 AND here AND Leased THEN StepNo := 3; END_IF;
        3:                                 (* both sides are ready *)
            IF (known AND NOT here) OR NOT Enable THEN StepNo := 8;  phase := 1;
            ELSIF known AND NOT Leased THEN StepNo := 2;  phase := 1;
            ELSIF agreed AND InPlace AND NOT Turning THEN
                StepNo := 7;  phase := 1;  finished := TRUE;
            ELSIF startable AND InPlace AND Ready AND Permitted AND NOT Turning AND slot.CanExecute THEN
                StepNo := 4;  phase := 1;  turns := TRUE;
            END_IF;
        4:                                 (* the robot's conveyor turns *)
            IF phase = 3 AND result <> 1 THEN reason := 7 + result;
            ELSIF rolls THEN StepNo := 5; END_IF;
        5:                                 (* the load moves *)
            IF phase = 3 AND result = 2 THEN reason := 9;
            ELSIF agreed THEN StepNo := 6;  finished := TRUE; END_IF;
        6:                                 (* both stop *)
            IF NOT turns AND NOT Turning THEN StepNo := 7;  phase := 1; END_IF;
        7:                                 (* the robot goes on *)
            IF GoOn = 0 THEN StepNo := 8;  phase := 1;  goesOn := TRUE;  wasTold := TRUE;
            ELSIF known AND NOT here AND NOT goesOn THEN StepNo := 8;  phase := 1;
            ELSIF phase = 3 AND result = 1 THEN StepNo := 8;  phase := 1;  wasTold := TRUE;
            ELSIF phase = 3 AND result = 3 THEN StepNo := 9;  doubt := TRUE;
            ELSIF phase = 3 THEN phase := 4;  goesOn := FALSE; END_IF;
        8:                                 (* the end of the lease *)
            IF phase = 3 AND result > 2 THEN phase := 4;
            ELSIF phase = 3 AND finished THEN StepNo := 9;  Done := TRUE;
            ELSIF phase = 3 THEN StepNo := 1; END_IF;
        9:                                 (* the robot leaves *)
            IF known AND NOT here AND (RobotHere OR NOT InPlace) THEN
                StepNo := 1;  robot := 0;  goesOn := FALSE;  Done := TRUE;
            END_IF;
        10:                                (* a person looks *)
            watched(IN := TRUE, PT := StopTime);
            IF rolls AND (unsure OR NOT watched.Q) THEN turns := TRUE; END_IF;
            IF Reset AND NOT lastReset AND (watched.Q OR NOT (turns OR unsure)) THEN
                ErrorID := 0;  turns := FALSE;  goesOn := FALSE;  finished := FALSE;  alive := TRUE;
                StepNo := 8;  phase := 1;
                watched(IN := FALSE, PT := StopTime);
            END_IF;
    END_CASE;
    IF reason = 0 AND late.Q AND StepNo = before THEN
        reason := 12;
        IF doubt THEN reason := 10;
        ELSIF (StepNo = 2 OR StepNo = 7) AND (result = 2 OR result = 4) THEN reason := 7 + result; END_IF;
    END_IF;
END_IF;
lastReset := Reset;
IF reason <> 0 THEN
    unsure := StepNo = 4 AND (reason = 10 OR phase = 2);
    ErrorID := reason;  FaultStep := StepNo;  StepNo := 10;  phase := 0;
END_IF;

(* The commands, one at a time. *)
pause(IN := phase = 4, PT := T#5s);
IF pause.Q THEN phase := 1; END_IF;
IF turns AND (StepNo = 6 OR StepNo = 10) THEN
    (* A stop is asked for until it is done; the first one may have to end a start. *)
    again(IN := stopPhase = 2, PT := T#1s);
    IF again.Q THEN stopPhase := 0; END_IF;
    IF stopPhase = 0 AND NOT slot.Stop THEN
        stopPhase := 1;  phase := 0;  stopOk := FALSE;
        clean := Connected AND slot.CanExecute;
    END_IF;
ELSE
    stopPhase := 0;
END_IF;
IF phase = 1 AND Connected AND slot.CanExecute AND stopPhase = 0
   AND (here OR StepNo <> 7) THEN          (* elsewhere it would leave another place *)
    phase := 2;
    order := halt;
    order[2] := robot;
    order[3] := 0;  order[4] := 0;
    CASE StepNo OF
        2: order[1] := 50;
        4: order[1] := 40;  order[3] := place;  order[4] := 4;
           IF unloads THEN order[4] := 5; END_IF;
        7: order[1] := 1;  order[5] := GoOn;  wasTold := FALSE;  goesOn := TRUE;
    ELSE
        order[1] := 51;
    END_CASE;
END_IF;
halt[1] := 40;  halt[2] := robot;  halt[3] := place;  halt[4] := 1;
IF Connected THEN told := Answer; END_IF;
slot(Connected := NOT linkLost.Q, Answer := told, Ready := TRUE,
     Execute := phase = 2, Wanted := order, Stop := stopPhase = 1, StopWith := halt,
     WriteBusy := WriteBusy, WriteDone := WriteDone, WriteError := WriteError);
Command := slot.Command;
DoWrite := slot.DoWrite;
IF (phase = 2 OR phase = 5) AND NOT slot.Busy THEN
    phase := 3;
    Outcome := slot.Outcome;  CommandErrorID := slot.ErrorID;
    result := 3;
    IF slot.Done THEN result := 1;
    ELSIF slot.LookFirst THEN result := 3;
    ELSIF slot.NotSent THEN result := 4;
    ELSIF slot.Error THEN result := 2; END_IF;
END_IF;
IF stopPhase = 1 AND NOT slot.StopBusy THEN
    stopPhase := 2;
    stopOk := clean AND slot.StopDone;
END_IF;
IF stopPhase = 2 AND stopOk AND NOT rolls THEN turns := FALSE; END_IF;

beat(IN := NOT beat.Q, PT := T#300ms);
IF beat.Q THEN
    Heartbeat := Heartbeat + 1;
    IF Heartbeat > 30000 THEN Heartbeat := 1; END_IF;
END_IF;
Run := StepNo = 5;
Inward := unloads;
Permit := Enable AND StepNo <> 10;
Busy := StepNo >= 2 AND StepNo <= 8;
Error := StepNo = 10;
LookFirst := Error AND (turns OR unsure OR ErrorID = 10 OR ErrorID = 13);
END_FUNCTION_BLOCK
`;

/** The inputs for tags of the station and of its slot. */
const tags = "Answer Leased Valid RobotHere RobotHereNo Loaded Rolling Permitted".split(" ");

export function stationTagsOf({ sections }: FunctionBlock): SclStructure {
  return {
    typeName: "UDT_FG_Station",
    name: "Tags",
    comment: "what was read of the station",
    members: sections.flatMap(({ declarations }) => declarations.filter(({ name }) => tags.includes(name))),
  };
}
