import * as z from 'zod';
import { timestamp } from '#kernel/declare/values.ts';
import { actor } from '#shared/events/metadata.ts';
import { Links } from './fields.ts';
import { PAGE } from './lists.ts';
import type { RestOperation } from './operation.ts';

const FieldChange = z
  .strictObject({
    field: z.string().meta({
      description: 'As the item has it; of what lies within another field, with a dot.',
      examples: ['title', 'limits.concurrency'],
    }),
    from: z
      .json()
      .exactOptional()
      .meta({ description: 'The former value; null if there was none, or if the person was erased.' }),
    to: z.json().exactOptional().meta({ description: 'The new value.' }),
    diff: z.string().exactOptional().meta({
      description: 'Instead of both, of long texts: the lines that have changed, as `diff -u` shows them.',
    }),
    truncated: z
      .literal(true)
      .exactOptional()
      .meta({ description: 'The difference is longer than what is shown of it.' }),
  })
  .meta({ id: 'FieldChange' });
export type FieldChange = Readonly<z.infer<typeof FieldChange>>;

const HistoryEntry = z
  .strictObject({
    version: z.int().positive().meta({ description: 'Of the item, once this had happened.' }),
    id: z.uuid().meta({ description: 'That of the event.' }),
    type: z.string().meta({ examples: ['user.updated'] }),
    at: timestamp.meta({ description: 'When it happened.' }),
    cursor: z.string().meta({ description: 'Its place in the log.' }),
    actor: actor
      .nullable()
      .meta({ description: 'The actor; null if the event cannot be read.', examples: ['user:7001'] }),
    client: z
      .string()
      .nullable()
      .exactOptional()
      .meta({ description: 'The client that they came by. For themself and administrators.' }),
    request: z
      .string()
      .exactOptional()
      .meta({ description: 'The request that did it. For themself and administrators.' }),
    correlation: z.string().exactOptional().meta({
      description: 'The same for all that follows from one request. For themself and administrators.',
    }),
    causation: z
      .string()
      .nullable()
      .exactOptional()
      .meta({ description: 'The id of the event that it follows from. For themself and administrators.' }),
    changes: z
      .array(FieldChange)
      .meta({ description: 'The changes of the item, as far as you may read them.' }),
    erased: z
      .literal(true)
      .exactOptional()
      .meta({ description: 'The person was erased: what was theirs is null, or not told at all.' }),
    unreadable: z
      .literal(true)
      .exactOptional()
      .meta({ description: 'The event cannot be read: what it changed is not known.' }),
    _links: Links.meta({
      description: '`self` is the item as this left it; `cause` is the history in which the cause stands.',
    }),
  })
  .meta({ id: 'HistoryEntry' });
export type HistoryEntry = Readonly<z.infer<typeof HistoryEntry>>;

/** The history of any aggregate. */
export const HISTORY = {
  method: 'GET',
  role: 'query',
  right: 'events.read',
  query: z.strictObject(PAGE),
  answer: {
    status: 200,
    description: 'A page of its history, the latest first.',
    kind: 'list',
    schema: HistoryEntry,
  },
} as const;

export const HISTORY_OPERATIONS = {
  listUserHistory: {
    ...HISTORY,
    path: '/users/{userId}/history',
    summary: 'The history of a user, as far as you may read it',
  },
  listWebhookHistory: {
    ...HISTORY,
    path: '/webhooks/{webhookId}/history',
    summary: 'The history of a webhook, without secrets',
  },
} as const satisfies Record<string, RestOperation>;
