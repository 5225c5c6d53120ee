import * as z from 'zod';
import type { RestOperation } from '#kernel/base/rest/operation.ts';
import { ANSWERS } from './answers.ts';

export const EVENT_TYPE_OPERATIONS = {
  listEventTypes: {
    method: 'GET',
    path: '/event-types',
    role: 'query',
    summary: 'All event types, with schemas and examples',
    right: null,
    query: z.strictObject({
      type: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .meta({ description: 'Only this type.', examples: ['user.updated'] }),
    }),
    answer: {
      status: 200,
      description: 'All event types.',
      kind: 'list',
      get schema() {
        return ANSWERS.eventTypes.module.EventType;
      },
    },
  },
} as const satisfies Record<string, RestOperation>;
