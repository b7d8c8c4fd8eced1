import type { Unit } from "../../northbound/opcua/model/member.ts";
import type { MethodArgument } from "../../northbound/opcua/model/method.ts";
import { CEFACT, type SharedProperty } from "../../northbound/opcua/model/properties.ts";
import type { Text } from "../../northbound/opcua/model/text.ts";
import { escaped } from "./function-block.ts";
import { type ArgumentValue, dataTypes } from "./node.ts";

const TYPES = "http://opcfoundation.org/UA/2008/02/Types.xsd";

/** The XML encodings of structures in OPC UA's own namespace. */
const encodings = { Argument: 297, Range: 885, EUInformation: 888, EnumValueType: 7616 } as const;

/** The `Value` of a property, in English: a value has one language. */
export function valueXml(property: SharedProperty | ArgumentValue): string {
  const xmlns = `xmlns="${TYPES}"`;
  switch (property.name) {
    case "EnumValues": {
      const values = property.enumeration.values.map(({ value, name, text }) =>
        structure(
          "EnumValueType",
          "",
          `<Value>${value}</Value>${textXml("DisplayName", name === text.en ? text : name)}${textXml("Description", text)}`,
        ),
      );
      return listXml(values);
    }
    case "InputArguments":
    case "OutputArguments":
      return listXml(property.list.map((argument) => structure("Argument", "", argumentXml(argument))));
    case "EngineeringUnits":
      return `<Value>${structure("EUInformation", ` ${xmlns}`, unitXml(property.unit))}</Value>`;
    case "EURange": {
      const [low, high] = property.range;
      const range = `<Low>${low}</Low><High>${high}</High>`;
      return `<Value>${structure("Range", ` ${xmlns}`, range)}</Value>`;
    }
  }
}

function listXml(structures: readonly string[]): string {
  const list = `<ListOfExtensionObject xmlns="${TYPES}">${structures.join("")}</ListOfExtensionObject>`;
  return `<Value>${list}</Value>`;
}

function argumentXml({ name, type, text, isList }: MethodArgument): string {
  return [
    `<Name>${escaped(name)}</Name>`,
    `<DataType><Identifier>i=${dataTypes[type]}</Identifier></DataType>`,
    `<ValueRank>${isList === true ? 1 : -1}</ValueRank>`,
    textXml("Description", text),
  ].join("");
}

/** The `Value` of a number. */
export function int32Xml(value: number): string {
  return `<Value><Int32 xmlns="${TYPES}">${value}</Int32></Value>`;
}

function structure(type: keyof typeof encodings, attributes: string, content: string): string {
  const id = `<TypeId><Identifier>i=${encodings[type]}</Identifier></TypeId>`;
  return `<ExtensionObject${attributes}>${id}<Body><${type}>${content}</${type}></Body></ExtensionObject>`;
}

function unitXml({ code, symbol, text }: Unit): string {
  return [
    `<NamespaceUri>${CEFACT}</NamespaceUri>`,
    `<UnitId>${unitId(code)}</UnitId>`,
    textXml("DisplayName", symbol),
    textXml("Description", text),
  ].join("");
}

/** The characters of the common code as one number (OPC UA part 8, 5.6.4.3). */
function unitId(code: string): number {
  return [...code].reduce((id, character) => id * 256 + character.charCodeAt(0), 0);
}

/** A text without a language is the same in each. */
function textXml(element: string, text: Text | string): string {
  const isWord = typeof text !== "string";
  const locale = isWord ? "<Locale>en</Locale>" : "";
  return `<${element}>${locale}<Text>${escaped(isWord ? text.en : text)}</Text></${element}>`;
}
