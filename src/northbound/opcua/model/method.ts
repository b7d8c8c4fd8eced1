import type { NamedText, TagType, Text } from "./member.ts";

/** An input or output of a method. */
export interface MethodArgument {
  readonly name: string;
  readonly type: TagType;
  readonly text: Text;
  readonly isList?: true;
}

/** The objects directly under Objects that contain the nodes of methods. */
export const methodFolders = {
  Operations: {
    german: "Operationen",
    en: "The operations of the fleet service, to be called",
    de: "Die Operationen des Flottendienstes, als Methoden",
  },
  RobotMethods: {
    german: "Robotermethoden",
    en: "The methods of a robot, to be called on its object",
    de: "Die Methoden eines Roboters, an seinem Objekt aufzurufen",
  },
} as const satisfies Readonly<Record<string, NamedText>>;

/** A method. Its node is shared by all objects that have it: `<folder>.<name>`. */
export interface MethodModel {
  readonly folder: keyof typeof methodFolders;
  readonly name: string;
  /** A description. */
  readonly text: NamedText;
  readonly inputs: readonly MethodArgument[];
  readonly outputs: readonly MethodArgument[];
  /** `RobotType` declares it, and each robot has it. */
  readonly isOfRobots: boolean;
}

/** The properties of a method that describe its arguments (OPC UA part 3, 5.7). */
export const argumentLists = {
  InputArguments: {
    german: "Eingangsargumente",
    en: "What a call gives to the method",
    de: "Was ein Aufruf der Methode mitgibt",
  },
  OutputArguments: {
    german: "Ausgangsargumente",
    en: "What the method answers",
    de: "Was die Methode antwortet",
  },
} as const satisfies Readonly<Record<string, NamedText>>;

/** The name of a list of arguments, and its content. */
export type ArgumentList = readonly [name: keyof typeof argumentLists, list: readonly MethodArgument[]];

/** The lists of arguments of a method. */
export function argumentListsOf({
  inputs,
  outputs,
}: Pick<MethodModel, "inputs" | "outputs">): readonly ArgumentList[] {
  return [
    ["InputArguments", inputs],
    ["OutputArguments", outputs],
  ];
}

/** Descriptions of the arguments of methods, by their names. */
export const argumentTexts = {
  RequestId: {
    en: "Yours, unique: with your user it names the command",
    de: "Ihre eigene, eindeutig: mit Ihrem Benutzer benennt sie den Befehl",
  },
  ExpiresAt: {
    en: "Not sent after this time; required for what moves a robot",
    de: "Danach wird nicht gesendet; nötig für alles, was einen Roboter bewegt",
  },
  Request: { en: "The request as proto3 JSON", de: "Die Anfrage als proto3-JSON" },
  Outcome: { en: "As of slots; final unless Pending", de: "Wie bei Slots; endgültig, außer bei Pending" },
  ErrorId: { en: "0, or what was wrong", de: "0, oder was falsch war" },
  ErrorText: { en: "The same for people", de: "Dasselbe für Menschen" },
  RetrySafe: {
    en: "Sending it again can move nothing twice",
    de: "Noch einmal gesendet kann es nichts zweimal bewegen",
  },
  ResponseJson: {
    en: "The service's answer; empty when there was none",
    de: "Die Antwort des Dienstes; leer, wenn es keine gab",
  },
  Pending: {
    en: "The outcome is not final yet: ask QueryOutcome",
    de: "Das Ergebnis ist noch nicht endgültig: QueryOutcome fragen",
  },
  Destination: { en: "Display name of a destination", de: "Anzeigename eines Ziels" },
  Destinations: {
    en: "Display names of destinations, in their order",
    de: "Anzeigenamen von Zielen, in ihrer Reihenfolge",
  },
  X: { en: "Metres", de: "Meter" },
  Y: { en: "Metres", de: "Meter" },
  Heading: { en: "Radians", de: "Radiant" },
  MissionId: { en: "Empty: the current mission", de: "Leer: die aktuelle Mission" },
  TaskChainId: {
    en: "0: the chain that the robot executes",
    de: "0: die Kette, die der Roboter ausführt",
  },
  ConveyorIndex: {
    en: "The logical position of the conveyor",
    de: "Die logische Position des Förderbands",
  },
  MotorCommand: {
    en: "2 clockwise, 3 counter-clockwise",
    de: "2 im Uhrzeigersinn, 3 gegen den Uhrzeigersinn",
  },
} as const satisfies Readonly<Record<string, Text>>;

/** Descriptions of methods that are no operation of a slot or of the service. */
export const methodTexts = {
  QueryOutcome: {
    german: "Ergebnis abfragen",
    en: "What became of a command that was called before",
    de: "Was aus einem früher gerufenen Befehl wurde",
  },
  ConveyorRun: { german: "Förderband drehen", en: "Turns a conveyor", de: "Dreht ein Förderband" },
  ConveyorStop: { german: "Förderband anhalten", en: "Stops a conveyor", de: "Hält ein Förderband an" },
} as const satisfies Readonly<Record<string, NamedText>>;
