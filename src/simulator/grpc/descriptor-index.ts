import {
  clone,
  create,
  type DescFile,
  fromBinary,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  ServiceDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import { FleetService, file_fleet_v1_service } from "../../wire/fleet/v1/service_pb.js";
import { file_grpc_health_v1_health } from "../../wire/grpc/health/v1/health_pb.js";
import {
  file_grpc_reflection_v1_reflection,
  ServerReflection,
  type ServerReflectionRequest,
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
} from "../../wire/grpc/reflection/v1/reflection_pb.js";
import { codes, invalid } from "../refusal.ts";
import type { GrpcMethod } from "./response.ts";

/**
 * Server reflection, v1 and v1alpha (their messages have the same numbers), for generic clients. Needs no
 * token.
 */
export function reflectionMethods(
  fleetNames: readonly string[],
  otherNames: readonly string[],
): ReadonlyMap<string, GrpcMethod> {
  const names = [...fleetNames, ...otherNames, ServerReflection.typeName];
  const index = createDescriptorIndex(fleetNames);
  const method: GrpcMethod = {
    kind: "dialogue",
    answer(bytes) {
      const request = decode(bytes);
      return toBinary(
        ServerReflectionResponseSchema,
        create(ServerReflectionResponseSchema, {
          validHost: request.host,
          originalRequest: request,
          messageResponse: respond(request.messageRequest, names, index),
        }),
      );
    },
  };
  const call = ServerReflection.method.serverReflectionInfo.name;
  return new Map([
    [`/${ServerReflection.typeName}/${call}`, method],
    [`/grpc.reflection.v1alpha.ServerReflection/${call}`, method],
  ]);
}

type Question = ServerReflectionRequest["messageRequest"];
type Answer = NonNullable<MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"]>;

function respond(question: Question, names: readonly string[], index: DescriptorIndex): Answer {
  switch (question.case) {
    case "listServices":
      return { case: "listServicesResponse", value: { service: names.map((name) => ({ name })) } };
    case "fileByFilename":
      return files(index.byFileName(question.value), question.value);
    case "fileContainingSymbol":
      return files(index.bySymbol(question.value), question.value);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = question.value;
      return files(
        index.byExtension(containingType, extensionNumber),
        `${containingType} ${extensionNumber}`,
      );
    }
    case "allExtensionNumbersOfType":
      return {
        case: "allExtensionNumbersResponse",
        value: {
          baseTypeName: question.value,
          extensionNumber: [...index.extensionNumbers(question.value)],
        },
      };
    case undefined:
      return failure(codes.INVALID_ARGUMENT, "the request asks nothing");
  }
}

function files(found: readonly Uint8Array[] | undefined, asked: string): Answer {
  if (found === undefined) return failure(codes.NOT_FOUND, `${asked} is not known`);
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto: [...found] } };
}

function failure(errorCode: number, errorMessage: string): Answer {
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}

function decode(bytes: Uint8Array): ServerReflectionRequest {
  try {
    return fromBinary(ServerReflectionRequestSchema, bytes);
  } catch {
    throw invalid("the request is no ServerReflectionRequest");
  }
}

/** File descriptors for reflection. */
interface DescriptorIndex {
  /** The file of that name and all that it imports, each encoded; undefined: there is none. */
  byFileName(name: string): readonly Uint8Array[] | undefined;
  /** The file that defines a service, method, message, enum, field or extension, and all that it imports. */
  bySymbol(symbol: string): readonly Uint8Array[] | undefined;
  byExtension(extendee: string, number: number): readonly Uint8Array[] | undefined;
  /** The numbers of the known extensions of a message. */
  extensionNumbers(extendee: string): readonly number[];
}

/** Descriptors of FleetService under each of its names, of health and of reflection. */
function createDescriptorIndex(serviceNames: readonly string[]): DescriptorIndex {
  const files = new Map<string, FileDescriptorProto>();
  const roots: readonly DescFile[] = [
    file_fleet_v1_service,
    file_grpc_health_v1_health,
    file_grpc_reflection_v1_reflection,
  ];
  for (const root of roots) collect(root, files);
  for (const name of serviceNames) {
    if (name === FleetService.typeName) continue;
    const alias = aliasFile(name);
    files.set(alias.name, alias);
  }
  const symbols = new Map<string, FileDescriptorProto>();
  for (const file of files.values()) for (const symbol of symbolsOf(file)) symbols.set(symbol, file);

  const withImports = (file: FileDescriptorProto | undefined) => {
    if (file === undefined) return undefined;
    const found = new Map<string, FileDescriptorProto>();
    gather(file, files, found);
    return [...found.values()].map((each) => toBinary(FileDescriptorProtoSchema, each));
  };
  const extensions = [...files.values()].flatMap((file) => file.extension.map((field) => ({ file, field })));

  return {
    byFileName: (name) => withImports(files.get(name)),
    bySymbol: (symbol) => withImports(symbols.get(symbol)),
    byExtension: (extendee, number) =>
      withImports(
        extensions.find(({ field }) => field.extendee === `.${extendee}` && field.number === number)?.file,
      ),
    extensionNumbers: (extendee) =>
      extensions.filter(({ field }) => field.extendee === `.${extendee}`).map(({ field }) => field.number),
  };
}

function collect(file: DescFile, into: Map<string, FileDescriptorProto>): void {
  if (into.has(file.proto.name)) return;
  into.set(file.proto.name, file.proto);
  for (const dependency of file.dependencies) collect(dependency, into);
}

function gather(
  file: FileDescriptorProto,
  files: ReadonlyMap<string, FileDescriptorProto>,
  into: Map<string, FileDescriptorProto>,
): void {
  if (into.has(file.name)) return;
  into.set(file.name, file);
  for (const name of file.dependency) {
    const dependency = files.get(name);
    if (dependency !== undefined) gather(dependency, files, into);
  }
}

/** A file with FleetService alone, under another package and name. Its messages stay where they are. */
function aliasFile(serviceName: string): FileDescriptorProto {
  const at = serviceName.lastIndexOf(".");
  const original = file_fleet_v1_service.proto;
  const services = original.service.map((service) => ({
    ...clone(ServiceDescriptorProtoSchema, service),
    name: serviceName.slice(at + 1),
  }));
  return create(FileDescriptorProtoSchema, {
    name: `${serviceName.replaceAll(".", "/")}.proto`,
    package: serviceName.slice(0, Math.max(at, 0)),
    dependency: [original.name, ...original.dependency],
    service: services,
    syntax: original.syntax,
  });
}

function symbolsOf(file: FileDescriptorProto): readonly string[] {
  const prefix = file.package === "" ? "" : `${file.package}.`;
  const symbols: string[] = [];
  for (const service of file.service) {
    symbols.push(`${prefix}${service.name}`);
    for (const method of service.method) symbols.push(`${prefix}${service.name}.${method.name}`);
  }
  for (const each of file.enumType) symbols.push(`${prefix}${each.name}`);
  for (const field of file.extension) symbols.push(`${prefix}${field.name}`);
  const addMessage = (message: FileDescriptorProto["messageType"][number], scope: string) => {
    const name = `${scope}${message.name}`;
    symbols.push(name);
    for (const field of message.field) symbols.push(`${name}.${field.name}`);
    for (const each of message.enumType) symbols.push(`${name}.${each.name}`);
    for (const nested of message.nestedType) addMessage(nested, `${name}.`);
  };
  for (const message of file.messageType) addMessage(message, prefix);
  return symbols;
}
