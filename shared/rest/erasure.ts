import * as z from 'zod';
import { actor } from '#kernel/base/events/metadata.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import { id } from '#kernel/base/rest/fields.ts';
import { timestamp } from '#kernel/base/values.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { stayingWithout } from '#shared/erasure/references.ts';

const count = z.int().nonnegative();
const byType = z.array(
  z.strictObject({ type: z.string().meta({ examples: ['user.updated'] }), events: count }),
);

const place = z.strictObject({
  place: z.string().meta({ examples: ['read_model.users'] }),
  verdict: z.enum(['erased', 'left', 'sealed', 'nothing', 'unreachable', 'unknown']).meta({
    description:
      '`erased`: searched, and no personal data is left; `left`: some is left; `sealed`: encrypted, and nobody can decrypt it; ' +
      '`nothing`: contains at most the id of the person; `unreachable`: Annals cannot reach it; `unknown`: not searched.',
  }),
  rows: count.nullable().meta({
    description: 'The number of rows, events or files of the person; null if they are not counted.',
  }),
  left: count.meta({ description: 'How many of these still contain personal data.' }),
  says: z.string(),
});

const reportFor = (kept: Readonly<Record<string, typeof count>>) =>
  z
    .strictObject({
      userId: id,
      isDone: z.boolean().meta({ description: 'Whether no personal data of the person is left anywhere.' }),
      asked: z
        .strictObject({
          event: z.uuid(),
          at: timestamp,
          actor: actor.nullable(),
          client: z.string().nullable(),
          request: z.string().nullable(),
        })
        .nullable()
        .meta({
          description:
            'When the user was deleted, by whom, and by which event; null if the log does not have the deletion yet.',
        }),
      listedAt: timestamp
        .nullable()
        .meta({ description: 'When the person was added to the erasure list, outside the database.' }),
      keyDestroyedAt: timestamp
        .nullable()
        .meta({ description: 'When this installation last destroyed the key of the personal data.' }),
      sealed: byType.meta({
        description: 'The number of events whose personal data nobody can decrypt any more.',
      }),
      followed: byType.meta({ description: 'Data that was deleted together with the user.' }),
      parts: z.array(z.strictObject({ part: z.string(), left: count, isDone: z.boolean() })).meta({
        description:
          'The parts of the system that may have personal data of the person, and how much is left there.',
      }),
      places: z.array(place).meta({
        description:
          'Every place that may have personal data of the person: each table of the database, by its catalog and by the domain, and the places outside of it.',
      }),
      kept: z.strictObject(kept).meta({ description: 'Data that stays, with “Deleted user” as its author.' }),
    })
    .meta({ id: 'ErasureReport' });
export type ErasureReport = Readonly<z.infer<ReturnType<typeof reportFor>>>;

/** The counts depend on how the aggregates of the domain react to the deletion of a person. */
export const erasureReportFor = oncePer((domain: Domain) =>
  reportFor(Object.fromEntries(stayingWithout(domain).map(({ name }) => [name, count]))),
);
