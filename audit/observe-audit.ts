import type { Registry } from 'prom-client';
import { readChainEnd } from '#shared/audit/blocks.ts';
import { readPublication } from '#shared/audit/publication.ts';
import type { Pool } from '#shared/database/pool.ts';
import { gauge } from './gauge.ts';

/** Tells how far the log is proven, whoever proves it: how far the chain is behind the log, is told as of every follower. */
export const observeAudit = ({ pool, metrics }: { readonly pool: Pool; readonly metrics: Registry }): void => {
  const signed = async () => (await readPublication(pool)).count;
  const chained = async () => (await readChainEnd(pool)).count;
  gauge(metrics, { name: 'annals_audit_chained_events', help: 'Events of the log that the chain of hashes covers.' }, chained);
  gauge(metrics, { name: 'annals_audit_signed_events', help: 'Events that a signed head covers which is outside the database.' }, signed);
  gauge(
    metrics,
    { name: 'annals_audit_unproven_events', help: 'Events in the chain that came after the newest head outside the database.' },
    async () => Math.max((await chained()) - (await signed()), 0),
  );
  gauge(
    metrics,
    {
      name: 'annals_audit_heads_refused',
      help: '1 while heads are not published, because what is outside the database contradicts it or cannot be written.',
    },
    async () => ((await readPublication(pool)).problem === null ? 0 : 1),
  );
};
