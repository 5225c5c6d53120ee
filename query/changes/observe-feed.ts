import { Counter, Gauge, type Registry } from 'prom-client';
import type { Lanes } from './lanes.ts';

/** What the feed has done. Several feeds of one process, as in tests, have a registry each. */
export const observeFeed = (registry: Registry, count: () => ReturnType<Lanes['count']>) => {
  new Gauge({
    name: 'annals_feed_readers',
    help: 'Those who follow changes, by whether they have caught up.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { live, catchingUp } = count();
      this.set({ state: 'live' }, live);
      this.set({ state: 'catching_up' }, catchingUp);
    },
  });
  const heard = new Counter({ name: 'annals_feed_changes_total', help: 'Changes that this process has heard.', registers: [registry] });
  const sent = new Counter({ name: 'annals_feed_messages_total', help: 'Messages written to those who follow.', registers: [registry] });
  return { heard, sent };
};
