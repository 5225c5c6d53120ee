import type { EventId, StreamName } from '../brands.ts';

/** The id in a path; undefined if the text is no id. */
export const pathId = (text: string): number | undefined => {
  const id = ID.test(text) ? Number(text) : 0;
  return id > 0 && Number.isSafeInteger(id) ? id : undefined;
};

/** The same for the id of an event. */
export const pathEventId = (text: string): EventId | undefined =>
  EVENT_ID.test(text) ? (text as EventId) : undefined;

/** The same for the name of a stream. */
export const pathStream = (text: string): StreamName | undefined =>
  STREAM.test(text) ? (text as StreamName) : undefined;

/** One spelling each, so that one item has one URL. */
const ID = /^[1-9]\d{0,15}$/;
const EVENT_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const STREAM = /^[a-z][A-Za-z0-9]{0,39}-[\w-]{1,100}$/;
