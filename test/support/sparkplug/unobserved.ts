/** Assertions of the standard without a rule here. */
export const unobserved: readonly { readonly reason: string; readonly ids: readonly string[] }[] = [
  {
    reason: "templates are not used",
    ids: named(`
      payloads-template-dataset-value payloads-template-definition-is-definition
      payloads-template-definition-members payloads-template-definition-nbirth
      payloads-template-definition-nbirth-only payloads-template-definition-parameters
      payloads-template-definition-parameters-default payloads-template-definition-ref
      payloads-template-instance-is-definition payloads-template-instance-members
      payloads-template-instance-members-birth payloads-template-instance-members-data
      payloads-template-instance-parameters payloads-template-instance-ref payloads-template-is-definition
      payloads-template-is-definition-definition payloads-template-is-definition-instance
      payloads-template-parameter-name-required payloads-template-parameter-name-type
      payloads-template-parameter-type-req payloads-template-parameter-type-value
      payloads-template-parameter-value payloads-template-parameter-value-type
      payloads-template-ref-definition payloads-template-ref-instance payloads-template-version
      topics-nbirth-templates
    `),
  },
  {
    reason: "data sets are not used",
    ids: named(`
      payloads-dataset-column-num-headers payloads-dataset-column-size payloads-dataset-parameter-type-req
      payloads-dataset-types-def payloads-dataset-types-num payloads-dataset-types-type
      payloads-dataset-types-value
    `),
  },
  {
    reason: "it is about MQTT servers",
    ids: named(`
      conformance-mqtt-aware-basic conformance-mqtt-aware-dbirth-mqtt-retain
      conformance-mqtt-aware-dbirth-mqtt-topic conformance-mqtt-aware-nbirth-mqtt-retain
      conformance-mqtt-aware-nbirth-mqtt-topic conformance-mqtt-aware-ndeath-timestamp
      conformance-mqtt-aware-store conformance-mqtt-qos0 conformance-mqtt-qos1 conformance-mqtt-retained
      conformance-mqtt-will-messages
    `),
  },
  {
    reason: "it is about commands, which hosts publish",
    ids: named(`
      operational-behavior-data-commands-dcmd-metric-name
      operational-behavior-data-commands-dcmd-metric-value operational-behavior-data-commands-dcmd-verb
      operational-behavior-data-commands-ncmd-metric-name
      operational-behavior-data-commands-ncmd-metric-value
      operational-behavior-data-commands-ncmd-rebirth-name
      operational-behavior-data-commands-ncmd-rebirth-value
      operational-behavior-data-commands-ncmd-rebirth-verb operational-behavior-data-commands-ncmd-verb
      payloads-dcmd-qos payloads-dcmd-retain payloads-dcmd-seq payloads-dcmd-timestamp
      payloads-name-cmd-requirement payloads-ncmd-qos payloads-ncmd-retain payloads-ncmd-seq
      payloads-ncmd-timestamp topics-dcmd-mqtt topics-dcmd-payload topics-dcmd-timestamp topics-dcmd-topic
      topics-ncmd-mqtt topics-ncmd-payload topics-ncmd-timestamp topics-ncmd-topic
    `),
  },
  {
    reason: "it permits something, and forbids nothing",
    ids: named(`
      operational-behavior-edge-node-intentional-disconnect-packet
      topic-structure-namespace-duplicate-device-id-across-edge-node
    `),
  },
  {
    reason: "an id is unique among edge nodes that are not on this wire",
    ids: named(`
      intro-edge-node-id-uniqueness payloads-nbirth-edge-node-descriptor
      topic-structure-namespace-unique-edge-node-descriptor
    `),
  },
  {
    reason: "two devices with one id would be one device on the wire",
    ids: named(`
      topic-structure-namespace-unique-device-id
    `),
  },
  {
    reason: "the decoder reads no other type in this field",
    ids: named(`
      payloads-metric-datatype-value-type payloads-metric-propertyvalue-type-type
    `),
  },
  {
    reason: "only the fleet knows which devices are lost: tests compare values with the simulator's",
    ids: named(`
      operational-behavior-device-ddeath
    `),
  },
  {
    reason: "it is about host applications",
    ids: named(`
      components-ph-state conformance-primary-host host-topic-phid-birth-message
      host-topic-phid-birth-payload host-topic-phid-birth-payload-timestamp host-topic-phid-birth-qos
      host-topic-phid-birth-required host-topic-phid-birth-retain host-topic-phid-birth-sub-required
      host-topic-phid-birth-topic host-topic-phid-death-payload
      host-topic-phid-death-payload-timestamp-connect
      host-topic-phid-death-payload-timestamp-disconnect-clean
      host-topic-phid-death-payload-timestamp-disconnect-with-no-disconnect-packet host-topic-phid-death-qos
      host-topic-phid-death-required host-topic-phid-death-retain host-topic-phid-death-topic
      intro-sparkplug-host-state message-flow-hid-sparkplug-state-message-delivered
      message-flow-phid-sparkplug-clean-session-311 message-flow-phid-sparkplug-clean-session-50
      message-flow-phid-sparkplug-state-publish message-flow-phid-sparkplug-state-publish-payload
      message-flow-phid-sparkplug-state-publish-payload-timestamp message-flow-phid-sparkplug-subscription
      operational-behavior-edge-node-termination-host-action-ddeath-devices-offline
      operational-behavior-edge-node-termination-host-action-ddeath-devices-tags-stale
      operational-behavior-edge-node-termination-host-action-ndeath-devices-offline
      operational-behavior-edge-node-termination-host-action-ndeath-devices-tags-stale
      operational-behavior-edge-node-termination-host-action-ndeath-node-offline
      operational-behavior-edge-node-termination-host-action-ndeath-node-tags-stale
      operational-behavior-host-application-connect-birth
      operational-behavior-host-application-connect-birth-payload
      operational-behavior-host-application-connect-birth-qos
      operational-behavior-host-application-connect-birth-retained
      operational-behavior-host-application-connect-birth-topic
      operational-behavior-host-application-connect-will
      operational-behavior-host-application-connect-will-payload
      operational-behavior-host-application-connect-will-qos
      operational-behavior-host-application-connect-will-retained
      operational-behavior-host-application-connect-will-topic
      operational-behavior-host-application-death-payload operational-behavior-host-application-death-qos
      operational-behavior-host-application-death-retained operational-behavior-host-application-death-topic
      operational-behavior-host-application-disconnect-intentional
      operational-behavior-host-application-host-id
      operational-behavior-host-application-multi-server-timestamp
      operational-behavior-host-application-termination operational-behavior-host-reordering-param
      operational-behavior-host-reordering-rebirth operational-behavior-host-reordering-start
      operational-behavior-host-reordering-success
      operational-behavior-primary-application-state-with-multiple-servers-state payloads-state-birth
      payloads-state-birth-payload payloads-state-subscribe payloads-state-will-message
      payloads-state-will-message-payload payloads-state-will-message-qos payloads-state-will-message-retain
    `),
  },
];

function named(words: string): readonly string[] {
  return words
    .trim()
    .split(/\s+/)
    .map((word) => `tck-id-${word}`);
}
