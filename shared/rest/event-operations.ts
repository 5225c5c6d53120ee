import * as z from 'zod';
import { actor } from '#kernel/base/events/metadata.ts';
import { instant } from '#kernel/base/instant.ts';
import { CLOUD_EVENTS_TYPE } from '#kernel/base/rest/cloud-event-types.ts';
import { idParameter, PAGE, sortBy } from '#kernel/base/rest/lists.ts';
import type { RestOperation } from '#kernel/base/rest/operation.ts';
import { token } from '#kernel/base/values.ts';
import type { Catalogue } from '#shared/events/catalogue.ts';
import { typesOf } from '#shared/events/event-patterns.ts';
import { ANSWERS } from './answers.ts';

/** The part of the catalogue that filters depend on. */
type PublicCatalogue = Pick<Catalogue, 'publicTypes' | 'publicKinds' | 'references'>;
/** Without a domain, there are no filters. */
const NOTHING: PublicCatalogue = { publicTypes: [], publicKinds: [], references: [] };

const SHOWN_CHARACTERS_MAX = 40;
const shown = (name: string): string => name.slice(0, SHOWN_CHARACTERS_MAX);
const typesIn = (catalogue: PublicCatalogue) =>
  z
    .string()
    .transform((text) => [...new Set(text.split(','))].toSorted())
    .superRefine((names, context) => {
      const unknown = names.find((name) => typesOf(catalogue, name).length === 0);
      if (unknown !== undefined)
        context.addIssue({
          code: 'custom',
          message: `Must be event types or patterns such as user.*, separated by commas; there is none named “${shown(unknown)}”.`,
        });
    })
    .meta({
      type: 'string',
      description: `Only these types, separated by commas. \`user.*\` stands for all types of users, \`*\` for all types. The types: ${catalogue.publicTypes.map((type) => `\`${type}\``).join(', ')}.`,
      examples: ['user.registered,user.updated', 'user.*'],
    });

const subjectIn = ({ publicKinds }: PublicCatalogue) =>
  z.string().regex(new RegExp(`^(?:${publicKinds.join('|')})-[A-Za-z0-9_.-]{1,200}$`), {
    error: 'Must be the subject of events, such as user-7001.',
  });

const TEXT_CHARACTERS_MIN = 2;
const TEXT_CHARACTERS_MAX = 200;
const text = z
  .string()
  .min(TEXT_CHARACTERS_MIN)
  .max(TEXT_CHARACTERS_MAX)
  .refine((value) => value.isWellFormed(), { error: 'Must be well-formed Unicode.' });

/** A time in the log, as the time of a change. */
const time = instant.meta({ examples: ['2026-11-21T15:04:05Z'] });

const filtersOf = (catalogue: PublicCatalogue) => ({
  types: typesIn(catalogue).optional(),
  actor: actor.optional().meta({
    description: 'Only events caused by this actor.',
    examples: ['user:7001', 'system:process-manager'],
  }),
  subject: subjectIn(catalogue)
    .optional()
    .meta({
      description: 'Only events of this item, named as in `subject` of events.',
      examples: ['user-7001'],
    }),
  client: token
    .optional()
    .meta({ description: 'Only events caused through this client, if you may see their `client`.' }),
  correlation: token.optional().meta({
    description: 'Only events that followed from one request, by their `correlation`, if you may see it.',
  }),
  text: text.optional().meta({
    description:
      'Only events with this text in their reason, or in the data that you may read, in upper or lower case. There is no index for this search.',
  }),
  // A domain may have a reference of the same name, which then counts.
  ...referencesIn(catalogue),
});

const referencesIn = ({ references }: PublicCatalogue) =>
  Object.fromEntries(
    references.map(({ name, says }) => [name, idParameter.optional().meta({ description: says })]),
  );

const AFTER = 'A cursor: only later events. Without it, pages start with the first event';
const after = (isStreamed: boolean) =>
  PAGE.after.meta({ description: isStreamed ? `${AFTER}, and a stream starts now.` : `${AFTER}.` });

const before = PAGE.before.meta({
  description: 'With `sort=-cursor`, a cursor: the page of events just before it.',
});

const sort = sortBy('cursor', '-cursor').meta({
  default: 'cursor',
  description:
    'The order of the log; with a minus, the latest first. `before` then leads to older events, and `after` to the page of events just after it.',
});

const since = time.optional().meta({
  description:
    'Starts with the first event at this time or later. With a cursor as well, the later of the two counts.',
});
const UNTIL = 'Ends before the first event later than this time.';
const until = (isStreamed: boolean) =>
  time.optional().meta({ description: isStreamed ? `${UNTIL} Not for streams.` : UNTIL });

export const SPAN = { since, until: until(true) };

/** The parameters of an event stream. */
export const followedEvents = (catalogue: PublicCatalogue) =>
  z.strictObject({ after: after(true), since, ...filtersOf(catalogue) });
const pagesOf = (catalogue: PublicCatalogue, isStreamed: boolean) => {
  const bounds = { after: after(isStreamed), before, since, until: until(isStreamed) };
  return z.strictObject({ limit: PAGE.limit, sort, ...bounds, ...filtersOf(catalogue) });
};

const AS_CLOUD_EVENTS = `\`Accept: ${CLOUD_EVENTS_TYPE}\` requests CloudEvents 1.0.`;
const LISTED = 'The events that you may read, oldest or latest first';

const listed = {
  method: 'GET',
  path: '/events',
  role: 'query',
  right: 'events.read',
} as const;
const answered = { status: 200, kind: 'list', hasCloudEvents: true } as const;

/** With streams; the parameters of an installation depend on its domain. */
export const EVENT_OPERATIONS = {
  listEvents: {
    ...listed,
    summary: `${LISTED}; or a stream of new events`,
    query: pagesOf(NOTHING, true),
    answer: {
      ...answered,
      description: `A page of events, or, for \`Accept: text/event-stream\`, an endless stream that continues after \`Last-Event-ID\`. A token without \`read:events\` may follow too: its events have ids alone in \`data\`, and no actor. ${AS_CLOUD_EVENTS}`,
      get schema() {
        return ANSWERS.events.module.Event;
      },
      isStreamed: true,
    },
  },
} as const satisfies Record<string, RestOperation>;

/** The event types of filters are those of the domain; without streams, there are only pages. */
export const eventOperations = (catalogue: PublicCatalogue, isStreamed: boolean) => {
  const query = pagesOf(catalogue, isStreamed);
  if (isStreamed) return { listEvents: { ...EVENT_OPERATIONS.listEvents, query } };
  return {
    listEvents: {
      ...listed,
      summary: LISTED,
      query,
      answer: {
        ...answered,
        description: `A page of events. ${AS_CLOUD_EVENTS}`,
        get schema() {
          return ANSWERS.events.module.Event;
        },
      },
    },
  } as const satisfies Record<string, RestOperation>;
};
