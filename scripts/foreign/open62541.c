/* Obeys the lines of scripts/foreign/stack.mjs with the client of open62541. */
#include <open62541/client_config_default.h>
#include <open62541/client_highlevel.h>
#include <open62541/client_subscriptions.h>
#include <open62541/plugin/certificategroup_default.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_WORDS 16
#define MAX_LINE 4096
#define EVENT_FIELDS 7

/* The library prints to the standard output too, so that is bent to the standard error. */
static FILE *answers;
static UA_Client *client;
static UA_UInt32 subscription;

static void
say(const char *first, const char *second, const void *value, const UA_DataType *type) {
    UA_ByteString json = UA_BYTESTRING_NULL;
    if(value)
        UA_encodeJson(value, type, &json, NULL);
    fprintf(answers, "%s\t", first);
    if(second)
        fprintf(answers, "%s\t", second);
    if(json.length > 0)
        fprintf(answers, "%.*s\n", (int)json.length, (char *)json.data);
    else
        fprintf(answers, "null\n");
    fflush(answers);
    UA_ByteString_clear(&json);
}

static void
answer(UA_StatusCode status, const void *value, const UA_DataType *type) {
    say(UA_StatusCode_name(status), NULL, value, type);
}

static UA_NodeId
nodeOf(const char *text) {
    UA_NodeId id = UA_NODEID_NULL;
    UA_NodeId_parse(&id, UA_STRING((char *)(uintptr_t)text));
    return id;
}

/* A value of the types that the cases use. */
static UA_Variant
valueOf(const char *kind, char *text) {
    UA_Variant value = {0};
    if(!strcmp(kind, "Boolean")) {
        UA_Boolean is = !strcmp(text, "true");
        UA_Variant_setScalarCopy(&value, &is, &UA_TYPES[UA_TYPES_BOOLEAN]);
    } else if(!strcmp(kind, "Int32")) {
        UA_Int32 number = atoi(text);
        UA_Variant_setScalarCopy(&value, &number, &UA_TYPES[UA_TYPES_INT32]);
    } else if(!strcmp(kind, "Int32[]")) {
        UA_Int32 numbers[MAX_WORDS];
        size_t count = 0;
        for(char *part = strtok(text, ","); part && count < MAX_WORDS; part = strtok(NULL, ","))
            numbers[count++] = atoi(part);
        UA_Variant_setArrayCopy(&value, numbers, count, &UA_TYPES[UA_TYPES_INT32]);
    } else if(!strcmp(kind, "String")) {
        UA_String string = UA_STRING(text);
        UA_Variant_setScalarCopy(&value, &string, &UA_TYPES[UA_TYPES_STRING]);
    } else if(!strcmp(kind, "LocalizedText")) {
        UA_LocalizedText localized = UA_LOCALIZEDTEXT("", text);
        UA_Variant_setScalarCopy(&value, &localized, &UA_TYPES[UA_TYPES_LOCALIZEDTEXT]);
    } else if(!strcmp(kind, "UInt32")) {
        UA_UInt32 number = (UA_UInt32)strtoul(text, NULL, 10);
        UA_Variant_setScalarCopy(&value, &number, &UA_TYPES[UA_TYPES_UINT32]);
    } else {
        int index = strcmp(kind, "DateTime") ? UA_TYPES_BYTESTRING : UA_TYPES_DATETIME;
        const UA_DataType *type = &UA_TYPES[index];
        char quoted[MAX_LINE];
        int length = snprintf(quoted, sizeof quoted, "\"%s\"", text);
        UA_ByteString json = {(size_t)length, (UA_Byte *)quoted};
        void *decoded = UA_new(type);
        UA_decodeJson(&json, decoded, type, NULL);
        UA_Variant_setScalar(&value, decoded, type);
    }
    return value;
}

static UA_ByteString
fileOf(const char *path) {
    UA_ByteString bytes = UA_BYTESTRING_NULL;
    FILE *file = fopen(path, "rb");
    if(!file)
        return bytes;
    fseek(file, 0, SEEK_END);
    UA_ByteString_allocBuffer(&bytes, (size_t)ftell(file));
    rewind(file);
    if(fread(bytes.data, 1, bytes.length, file) != bytes.length)
        bytes.length = 0;
    fclose(file);
    return bytes;
}

static void
forget(void) {
    if(!client)
        return;
    UA_Client_disconnect(client);
    UA_Client_delete(client);
    client = NULL;
    subscription = 0;
}

/* connect url [policy certificate key user password] */
static void
doConnect(char **words, size_t count) {
    forget();
    client = UA_Client_new();
    UA_ClientConfig *config = UA_Client_getConfig(client);
    UA_ClientConfig_setDefault(config);
    config->logging->log = NULL;
    if(count > 3) {
        char uri[128];
        snprintf(uri, sizeof uri, "http://opcfoundation.org/UA/SecurityPolicy#%s", words[2]);
        UA_ClientConfig_setDefaultEncryption(config, fileOf(words[3]), fileOf(words[4]), NULL, 0, NULL, 0);
        UA_CertificateGroup_AcceptAll(&config->certificateVerification);
        config->securityMode = UA_MESSAGESECURITYMODE_SIGNANDENCRYPT;
        config->securityPolicyUri = UA_STRING_ALLOC(uri);
        UA_String_clear(&config->clientDescription.applicationUri);
        config->clientDescription.applicationUri = UA_STRING_ALLOC("urn:fleetgate:try");
    }
    UA_StatusCode status = count > 6 ? UA_Client_connectUsername(client, words[1], words[5], words[6])
                                     : UA_Client_connect(client, words[1]);
    answer(status, NULL, NULL);
}

static void
doEndpoints(char **words, size_t count) {
    UA_Client *other = UA_Client_new();
    UA_ClientConfig_setDefault(UA_Client_getConfig(other));
    size_t length = 0;
    UA_EndpointDescription *found = NULL;
    UA_StatusCode status = UA_Client_getEndpoints(other, words[1], &length, &found);
    fprintf(answers, "%s\t[", UA_StatusCode_name(status));
    for(size_t i = 0; i < length; i++) {
        char uri[128];
        UA_String policy = found[i].securityPolicyUri;
        snprintf(uri, sizeof uri, "%.*s", (int)policy.length, (char *)policy.data);
        char *name = strrchr(uri, '#');
        fprintf(answers, "%s\"%s\"", i ? "," : "", name ? name + 1 : "");
    }
    fprintf(answers, "]\n");
    fflush(answers);
    UA_Array_delete(found, length, &UA_TYPES[UA_TYPES_ENDPOINTDESCRIPTION]);
    UA_Client_delete(other);
}

static void
doRead(char **words, size_t count) {
    UA_Variant value = {0};
    UA_StatusCode status = UA_Client_readValueAttribute(client, nodeOf(words[1]), &value);
    answer(status, &value, &UA_TYPES[UA_TYPES_VARIANT]);
    UA_Variant_clear(&value);
}

static void
doWrite(char **words, size_t count) {
    UA_Variant value = valueOf(words[2], words[3]);
    answer(UA_Client_writeValueAttribute(client, nodeOf(words[1]), &value), NULL, NULL);
    UA_Variant_clear(&value);
}

static void
doCall(char **words, size_t count) {
    UA_Variant inputs[MAX_WORDS];
    size_t inputCount = 0, outputCount = 0;
    UA_Variant *outputs = NULL;
    for(size_t i = 3; i + 1 < count; i += 2)
        inputs[inputCount++] = valueOf(words[i], words[i + 1]);
    UA_StatusCode status = UA_Client_call(client, nodeOf(words[1]), nodeOf(words[2]), inputCount, inputs,
                                          &outputCount, &outputs);
    UA_Variant all;
    UA_Variant_setArray(&all, outputs, outputCount, &UA_TYPES[UA_TYPES_VARIANT]);
    answer(status, &all, &UA_TYPES[UA_TYPES_VARIANT]);
    UA_Variant_clear(&all);
}

static void
doBrowse(char **words, size_t count) {
    UA_BrowseDescription what;
    UA_BrowseDescription_init(&what);
    what.nodeId = nodeOf(words[1]);
    what.referenceTypeId = UA_NODEID_NUMERIC(0, UA_NS0ID_HIERARCHICALREFERENCES);
    what.includeSubtypes = true;
    UA_BrowseResult result = UA_Client_browse(client, NULL, 0, &what);
    fprintf(answers, "%s\t[", UA_StatusCode_name(result.statusCode));
    for(size_t i = 0; i < result.referencesSize; i++) {
        UA_String text = UA_STRING_NULL;
        UA_NodeId_print(&result.references[i].nodeId.nodeId, &text);
        fprintf(answers, "%s\"%.*s\"", i ? "," : "", (int)text.length, (char *)text.data);
        UA_String_clear(&text);
    }
    fprintf(answers, "]\n");
    fflush(answers);
    UA_BrowseResult_clear(&result);
}

static void
onChange(UA_Client *from, UA_UInt32 id, void *context, UA_UInt32 item, void *node, UA_DataValue *value) {
    say("*", (const char *)node, &value->value, &UA_TYPES[UA_TYPES_VARIANT]);
}

static void
needSubscription(void) {
    if(subscription)
        return;
    UA_CreateSubscriptionRequest request = UA_CreateSubscriptionRequest_default();
    request.requestedPublishingInterval = 200;
    subscription = UA_Client_Subscriptions_create(client, request, NULL, NULL, NULL).subscriptionId;
}

static void
doSubscribe(char **words, size_t count) {
    needSubscription();
    UA_MonitoredItemCreateRequest item = UA_MonitoredItemCreateRequest_default(nodeOf(words[1]));
    UA_MonitoredItemCreateResult result = UA_Client_MonitoredItems_createDataChange(
        client, subscription, UA_TIMESTAMPSTORETURN_BOTH, item, strdup(words[1]), onChange, NULL);
    answer(result.statusCode, NULL, NULL);
}

static void
onEvent(UA_Client *from, UA_UInt32 id, void *context, UA_UInt32 item, void *node, const UA_KeyValueMap fields) {
    UA_Variant values[EVENT_FIELDS], all;
    for(size_t i = 0; i < EVENT_FIELDS; i++)
        values[i] = fields.map[i].value;
    UA_Variant_setArray(&all, values, EVENT_FIELDS, &UA_TYPES[UA_TYPES_VARIANT]);
    say("*", "event", &all, &UA_TYPES[UA_TYPES_VARIANT]);
}

/* events node, conditions node: gives the subscription */
static void
doEvents(char **words, size_t count) {
    needSubscription();
    static const struct {
        UA_UInt32 type;
        char *path[2];
    } selected[EVENT_FIELDS] = {
        {UA_NS0ID_BASEEVENTTYPE, {"SourceName"}},
        {UA_NS0ID_BASEEVENTTYPE, {"Severity"}},
        {UA_NS0ID_BASEEVENTTYPE, {"EventType"}},
        {UA_NS0ID_CONDITIONTYPE, {NULL}}, /* the ConditionId */
        {UA_NS0ID_BASEEVENTTYPE, {"EventId"}},
        {UA_NS0ID_ACKNOWLEDGEABLECONDITIONTYPE, {"AckedState", "Id"}},
        {UA_NS0ID_CONDITIONTYPE, {"Retain"}}};
    UA_QualifiedName names[EVENT_FIELDS][2];
    UA_SimpleAttributeOperand fields[EVENT_FIELDS];
    memset(fields, 0, sizeof fields);
    for(size_t i = 0; i < EVENT_FIELDS; i++) {
        fields[i].typeDefinitionId = UA_NODEID_NUMERIC(0, selected[i].type);
        fields[i].browsePath = names[i];
        for(size_t j = 0; j < 2 && selected[i].path[j]; j++)
            names[i][fields[i].browsePathSize++] = UA_QUALIFIEDNAME(0, selected[i].path[j]);
        fields[i].attributeId = fields[i].browsePathSize ? UA_ATTRIBUTEID_VALUE : UA_ATTRIBUTEID_NODEID;
    }
    UA_EventFilter filter = {.selectClausesSize = EVENT_FIELDS, .selectClauses = fields};
    UA_MonitoredItemCreateRequest item = UA_MonitoredItemCreateRequest_default(nodeOf(words[1]));
    item.itemToMonitor.attributeId = UA_ATTRIBUTEID_EVENTNOTIFIER;
    item.requestedParameters.queueSize = 100;
    UA_ExtensionObject_setValueNoDelete(&item.requestedParameters.filter, &filter,
                                        &UA_TYPES[UA_TYPES_EVENTFILTER]);
    UA_MonitoredItemCreateResult result = UA_Client_MonitoredItems_createEvent(
        client, subscription, UA_TIMESTAMPSTORETURN_BOTH, item, NULL, onEvent, NULL);
    answer(result.statusCode, &subscription, &UA_TYPES[UA_TYPES_UINT32]);
}

static UA_Boolean
onHistory(UA_Client *from, const UA_NodeId *node, UA_Boolean more, const UA_ExtensionObject *data,
          void *values) {
    if(UA_ExtensionObject_hasDecodedType(data, &UA_TYPES[UA_TYPES_HISTORYDATA])) {
        const UA_HistoryData *past = (const UA_HistoryData *)data->content.decoded.data;
        UA_Variant_setArrayCopy((UA_Variant *)values, past->dataValues, past->dataValuesSize,
                                &UA_TYPES[UA_TYPES_DATAVALUE]);
    }
    return false;
}

static void
doHistory(char **words, size_t count) {
    UA_NodeId node = nodeOf(words[1]);
    UA_DateTime now = UA_DateTime_now();
    UA_Variant values;
    UA_Variant_setArray(&values, NULL, 0, &UA_TYPES[UA_TYPES_DATAVALUE]);
    UA_StatusCode status =
        UA_Client_HistoryRead_raw(client, &node, onHistory, now - UA_DATETIME_SEC * 3600, now, UA_STRING_NULL,
                                  false, 1000, UA_TIMESTAMPSTORETURN_BOTH, &values);
    answer(status, &values, &UA_TYPES[UA_TYPES_VARIANT]);
    UA_Variant_clear(&values);
}

static void
doVersion(char **words, size_t count) {
    UA_String version = UA_STRING(UA_OPEN62541_VERSION);
    answer(UA_STATUSCODE_GOOD, &version, &UA_TYPES[UA_TYPES_STRING]);
}

static void
doDisconnect(char **words, size_t count) {
    forget();
    answer(UA_STATUSCODE_GOOD, NULL, NULL);
}

static const struct {
    const char *name;
    void (*run)(char **words, size_t count);
} commands[] = {{"version", doVersion}, {"endpoints", doEndpoints}, {"connect", doConnect},
                {"disconnect", doDisconnect}, {"read", doRead}, {"write", doWrite}, {"call", doCall},
                {"browse", doBrowse}, {"subscribe", doSubscribe}, {"events", doEvents},
                {"conditions", doEvents}, {"history", doHistory}};

static void
obey(char *line) {
    char *words[MAX_WORDS];
    size_t count = 0;
    for(char *word = strtok(line, "\t"); word && count < MAX_WORDS; word = strtok(NULL, "\t"))
        words[count++] = word;
    for(size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if(!strcmp(words[0], commands[i].name))
            commands[i].run(words, count);
}

int
main(void) {
    static char input[MAX_LINE];
    answers = fdopen(dup(STDOUT_FILENO), "w");
    dup2(STDERR_FILENO, STDOUT_FILENO);
    size_t length = 0;
    struct pollfd stdinput = {STDIN_FILENO, POLLIN, 0};
    for(;;) {
        if(poll(&stdinput, 1, 20) > 0) {
            ssize_t more = read(STDIN_FILENO, input + length, sizeof input - length - 1);
            if(more <= 0)
                return 0;
            length += (size_t)more;
            input[length] = 0;
            if(input[length - 1] == '\n') {
                input[length - 1] = 0;
                length = 0;
                obey(input);
            }
        }
        if(client)
            UA_Client_run_iterate(client, 0);
    }
}
