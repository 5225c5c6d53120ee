import * as z from 'zod';
import { ANSWERS_OF_ITEMS } from './answers.ts';
import { PAGE } from './lists.ts';
import type { RestOperation } from './operation.ts';

/** The readers of any aggregate whose reads are logged. */
export const READERS_OPERATION = {
  method: 'GET',
  role: 'query',
  query: z.strictObject(PAGE),
  answer: {
    status: 200,
    description: 'A page of the log of reads, the latest first.',
    kind: 'list',
    get schema() {
      return ANSWERS_OF_ITEMS.readers.module.Reading;
    },
  },
} as const;

export const READS_OF_USER_OPERATIONS = {
  listReadsOfUser: {
    method: 'GET',
    path: '/users/{userId}/reads',
    role: 'query',
    summary: 'The reads of a user, as far as they are logged',
    right: 'events.export',
    query: z.strictObject(PAGE),
    answer: {
      status: 200,
      description: 'A page of the log of reads, the latest first.',
      kind: 'list',
      get schema() {
        return ANSWERS_OF_ITEMS.readers.module.ReadingOfUser;
      },
    },
  },
} as const satisfies Record<string, RestOperation>;
