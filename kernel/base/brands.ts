/**
 * Types that differ for the compiler though they are alike at run time, so that a version is never passed as
 * a position.
 */
declare const brand: unique symbol;
export type Branded<Value, Name extends string> = Value & { readonly [brand]: Name };

/** The name of a stream: its kind, a dash, and its key, such as `article-42`. */
export type StreamName = Branded<string, 'StreamName'>;

/** The number of a stream’s events up to and including one; the first event has version 1. */
export type Version = Branded<number, 'Version'>;

/** A position in the whole log. Positions rise in the order of commits; a safe integer on every engine. */
export type Position = Branded<number, 'Position'>;

/** A UUID in lower case. */
export type EventId = Branded<string, 'EventId'>;

/** The log that a position belongs to. */
export type LogIdentity = Branded<string, 'LogIdentity'>;

export type UserId = Branded<number, 'UserId'>;
export type WebhookId = Branded<number, 'WebhookId'>;
