import * as z from 'zod';
import { actor } from '../events/metadata.ts';
import { timestamp } from '../values.ts';
import { Links } from './fields.ts';
import { IMPORTED_AT, REASON_GIVEN, SIGNATURE_GIVEN, TRACE } from './origin.ts';

const FieldChange = z
  .strictObject({
    field: z.string().meta({
      description: 'The name of the field; a field inside another one has a dot.',
      examples: ['title', 'limits.concurrency'],
    }),
    from: z
      .json()
      .exactOptional()
      .meta({ description: 'The former value; null if there was none, or if the person was erased.' }),
    to: z.json().exactOptional().meta({ description: 'The new value.' }),
    diff: z.string().exactOptional().meta({
      description: 'For long texts, instead of `from` and `to`: the changed lines, as in `diff -u`.',
    }),
    truncated: z
      .literal(true)
      .exactOptional()
      .meta({ description: 'The difference is longer than the part shown here.' }),
  })
  .meta({ id: 'FieldChange' });
export type FieldChange = Readonly<z.infer<typeof FieldChange>>;

export const HistoryEntry = z
  .strictObject({
    version: z.int().positive().meta({ description: 'The version of the item after this event.' }),
    id: z.uuid().meta({ description: 'The id of the event.' }),
    type: z.string().meta({ examples: ['user.updated'] }),
    at: timestamp.meta({ description: 'When it happened.' }),
    importedAt: IMPORTED_AT,
    reason: REASON_GIVEN,
    signature: SIGNATURE_GIVEN,
    cursor: z.string().meta({ description: 'Its position in the log.' }),
    actor: actor
      .nullable()
      .meta({ description: 'The actor; null if the event cannot be read.', examples: ['user:7001'] }),
    ...TRACE,
    changes: z
      .array(FieldChange)
      .meta({ description: 'The changes of the item, as far as you may read them.' }),
    erased: z
      .literal(true)
      .exactOptional()
      .meta({ description: 'The person was erased: their data is null or missing.' }),
    unreadable: z
      .literal(true)
      .exactOptional()
      .meta({ description: 'The event cannot be read, so its changes are unknown.' }),
    _links: Links.meta({
      description: '`self` is the item after this event; `cause` is the history that contains the cause.',
    }),
  })
  .meta({ id: 'HistoryEntry' });
export type HistoryEntry = Readonly<z.infer<typeof HistoryEntry>>;
