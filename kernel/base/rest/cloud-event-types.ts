/** The media types of CloudEvents in JSON: of one event (structured mode), and of several (batched mode). */
export const CLOUD_EVENT_TYPE = 'application/cloudevents+json';
export const CLOUD_EVENTS_TYPE = 'application/cloudevents-batch+json';
