import type { RestOperation } from '#kernel/base/rest/operation.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { ANSWERS } from './answers.ts';

export const erasureReadsOf = (domain: Domain) =>
  ({
    getErasureOfUser: {
      method: 'GET',
      path: '/users/{userId}/erasure',
      role: 'query',
      summary: 'Report on the erasure of a deleted user',
      right: 'events.export',
      refusals: ['forbidden', 'not_erased'],
      answer: {
        status: 200,
        description: 'The report. It contains no personal data.',
        kind: 'item',
        get schema() {
          return ANSWERS.erasure.module.erasureReportFor(domain);
        },
      },
    },
  }) as const satisfies Record<string, RestOperation>;
