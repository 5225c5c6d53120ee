import { migrate } from '#shared/database/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';

/** The id of the event with a number. */
export const idOf = (number: number) => `0199a1b2-7c3d-7e4f-8a5b-${String(number).padStart(12, '0')}`;
const DELIVERIES = 5;
/** The answers to the attempts of the first delivery. */
const BODIES = [
  Buffer.from('Too busy.'),
  Buffer.from([0xff, 0xfe]),
  Buffer.from('é'.repeat(8_193)).subarray(1, 16_386),
  null,
];

export const makeLedger = (pool: Pool): Promise<void> =>
  migrate(pool, 'webhook_ledger', new URL('../../webhook-dispatcher/ledger/', import.meta.url));

/** As the dispatcher would write it. */
export const fillLedger = async (pool: Pool, webhookId: string): Promise<void> => {
  await makeLedger(pool);
  for (let number = 1; number <= DELIVERIES; number += 1)
    await pool.query(
      `insert into webhook_ledger.delivery (webhook_id, event_id, position, type, subject, state, attempts, next_at, last_status, created_at)
       values ($1, $2, $3, $4, 'article-8001', $5, 1, '2026-01-02T00:00:00Z', 503, $6)`,
      [
        ...[webhookId, idOf(number), number],
        ...[
          number % 2 ? 'article.edited' : 'article.published',
          number === 3 ? 'dead' : 'due',
          `2026-01-01T00:00:0${number}Z`,
        ],
      ],
    );
  for (const [index, body] of BODIES.entries())
    await pool.query(
      `insert into webhook_ledger.attempt (webhook_id, event_id, number, at, duration_ms, status, error, request_headers, response_headers, response_body)
       values ($1, $2, $3, '2026-01-01T00:00:10Z', 41, $4, $5, '{"webhook-id":"1"}', '{"retry-after":"5"}', $6)`,
      [webhookId, idOf(1), index + 1, body && 503, body ? null : 'The connection was refused.', body],
    );
  for (const number of [1, 2])
    await pool.query(
      `insert into webhook_ledger.replay (id, webhook_id, from_position, to_position, at_position, requested_at)
       values ($1, $2, 3, 9, 5, '2026-01-01T00:00:00Z')`,
      [idOf(number), webhookId],
    );
};
