import { CLOUD_EVENT_TYPE } from '#kernel/base/rest/cloud-event-types.ts';
import type { RestOperation } from '#kernel/base/rest/operation.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { ANSWERS } from './answers.ts';

const served = { method: 'GET', role: 'query', right: 'events.read' } as const;

/** Deliveries and the position in the chain are described if they are served. */
export const recordedEventOperationsOf = (domain: Domain) => {
  const hasWebhooks = serves(domain, 'webhooks');
  return {
    getRecordedEvent: {
      ...served,
      path: '/events/{eventId}',
      summary: summaryOf(domain),
      answer: {
        status: 200,
        description: `The event, as far as you may read it. \`Accept: ${CLOUD_EVENT_TYPE}\` requests a CloudEvent 1.0.`,
        kind: 'item',
        hasCloudEvents: true,
        get schema() {
          return ANSWERS.recordedEvent.module.recordedEventFor(domain);
        },
      },
    },
    traceRecordedEvent: {
      ...served,
      path: '/events/{eventId}/trace',
      summary: hasWebhooks
        ? 'The causes and consequences of an event, with deliveries'
        : 'The causes and consequences of an event',
      answer: {
        status: 200,
        description: hasWebhooks
          ? 'The events of one request, and their deliveries.'
          : 'The events of one request.',
        kind: 'item',
        get schema() {
          return ANSWERS.recordedEvent.module.eventTraceFor(domain);
        },
      },
    },
  } as const satisfies Record<string, RestOperation>;
};

const summaryOf = (domain: Domain): string => {
  const [chain, deliveries] = ['its position in the hash chain', 'its deliveries'];
  if (serves(domain, 'proof'))
    return serves(domain, 'webhooks')
      ? `One event: its data, ${chain}, and ${deliveries}`
      : `One event: its data, and ${chain}`;
  return serves(domain, 'webhooks') ? `One event: its data, and ${deliveries}` : 'One event, with its data';
};
