import { later } from '#kernel/base/later.ts';
import { ANSWERS_OF_ITEMS } from '#kernel/base/rest/answers.ts';

/**
 * The schemas of answers that only descriptions of the interface read: `describing.ts` loads them. A process that
 * nobody asks for a description never makes them.
 */
export const ANSWERS = {
  ...ANSWERS_OF_ITEMS,
  operators: later('The module of the answers to operators', () => import('./operator.ts')),
  erasure: later('The module of the report on an erasure', () => import('./erasure.ts')),
  eventTypes: later('The module of the answers about event types', () => import('./event-types.ts')),
  events: later('The module of the answers with events', () => import('./events.ts')),
  recordedEvent: later('The module of the answers about one event', () => import('./recorded-event.ts')),
} as const;
