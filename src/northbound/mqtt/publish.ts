/**
 * Publishes one retained state message. An empty payload removes the topic.
 *
 * @param mark the topic whose JSON contains our session for this one (published-topics.ts); absent: the topic
 * itself; null: a later run does not look for it
 */
export type PublishState = (topic: string, payload: string, mark?: string | null) => void;
/** Removes a topic for good. The broker acknowledges it, because no later snapshot would remove it again. */
export type RemoveTopic = (topic: string) => void;
