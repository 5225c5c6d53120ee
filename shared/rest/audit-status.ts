import * as z from 'zod';
import { timestamp } from '#kernel/base/values.ts';
import { AuditHead, count, hash } from './audit-head.ts';

const cursor = z.string();

export const AuditStatus = z
  .strictObject({
    log: z.strictObject({ cursor: cursor.meta({ description: 'The end of the log.' }) }),
    chain: z.strictObject({
      count: count.meta({ description: 'The number of events in the hash chain.' }),
      cursor,
      head: hash,
    }),
    signed: AuditHead.pick({ count: true, at: true, head: true, key: true })
      .nullable()
      .meta({ description: 'The newest head outside the database.' }),
    unproven: z
      .strictObject({
        events: count.meta({
          description:
            'Number of events in the chain after that head: nothing outside the database proves them yet.',
        }),
        since: timestamp.nullable(),
      })
      .meta({ description: 'The events after that head.' }),
    readModel: z.strictObject({
      cursor: cursor.meta({ description: 'The last event that the read model has applied.' }),
    }),
    verified: z
      .strictObject({
        count: count.meta({ description: 'Number of events that the current round has verified.' }),
        cursor,
        began: timestamp,
        finished: timestamp
          .nullable()
          .meta({ description: 'End of the last complete round; null before the first one.' }),
        differences: count.meta({
          description: 'Findings of the current round, or of the last complete one if that had more.',
        }),
      })
      .nullable()
      .meta({ description: 'Progress of the background verification; null before it has started.' }),
    differences: z
      .array(
        z.strictObject({
          kind: z.string(),
          cursor: cursor.nullable(),
          stream: z.string().nullable(),
          version: z.int().nullable(),
          fields: z.array(z.string()),
          at: timestamp,
        }),
      )
      .exactOptional()
      .meta({ description: 'The first differences. Only administrators see them.' }),
    problem: z
      .string()
      .nullable()
      .exactOptional()
      .meta({ description: 'Why no head is published. Only administrators see it.' }),
    parked: count.exactOptional().meta({
      description:
        'Number of items that cannot be read because of one of their events. Only administrators see it.',
    }),
  })
  .meta({ id: 'AuditStatus' });
export type AuditStatus = Readonly<z.infer<typeof AuditStatus>>;
