import { expect, test } from 'vitest';
import { scaled } from '../../testing/load.ts';
import { createRandom } from '../../testing/random.ts';
import { SEED } from '../../testing/seed.ts';
import { until } from '../../testing/until.ts';
import { draftArticle, registerUser } from '../engines/command-side.ts';
import { openEndpoint, untilDelivered } from './delivering.ts';
import type { EndpointKind } from './endpoint-kinds.ts';
import { startFollowedRoles } from './followed-roles.ts';
import { inPostgres } from './lost-queue.ts';
import { isSigned } from './receivers.ts';
import { forgetRuns, readLedger } from './webhook-ledger.ts';

const DEATHS = 5;
const PATIENCE_MS = 60_000;

test(
  `a delivery whose dispatcher is killed between sending and recording, ${DEATHS} times in a row, still completes`,
  async () => {
    const random = createRandom(SEED);
    await using roles = await startFollowedRoles({ query: 0, projector: 1, dispatcher: 1 });
    const owner = { userId: await registerUser(roles.gateway), role: 'author' } as const;
    let deaths = 0;
    const manner: EndpointKind['manner'] = {
      async answer() {
        if (deaths === DEATHS) return { status: 204 };
        deaths += 1;
        await roles.replace('webhook-dispatcher', 0, 'SIGKILL');
        // Simulates half a minute: until then neither its run nor its job is given to another process.
        await Promise.all([forgetRuns(roles.side.pool), inPostgres.lose(roles.side.pool, random)]);
        // The receiver accepts, but the dispatcher is dead.
        return { status: 204 };
      },
    };
    const limits = { ratePerSecond: 50, concurrency: 10 };
    const asks = {
      eventTypes: ['article.published'],
      filter: {},
      payload: 'full',
      ordered: false,
      limits,
    } as const;
    const kind: EndpointKind = { name: 'deadly', owner, asks, manner, wants: () => true };
    const { receiver, webhookId, secrets } = await openEndpoint(roles, kind, random);
    await using _ = receiver;
    await draftArticle(roles.gateway, owner.userId);
    await until(
      () => receiver.arrivals.length,
      (arrivals) => arrivals > DEATHS,
      PATIENCE_MS,
    );
    await untilDelivered(roles, PATIENCE_MS);

    const { arrivals } = receiver;
    expect(arrivals).toHaveLength(DEATHS + 1);
    expect(new Set(arrivals.map(({ id, body }) => `${id} ${body}`)).size).toBe(1);
    expect(arrivals.filter((arrival) => !isSigned(arrival, secrets))).toEqual([]);
    const id = arrivals[0]?.id ?? '';
    // The killed attempts left no record.
    expect(await readLedger(roles.side.pool, webhookId)).toEqual([
      { id, state: 'delivered', attempts: 1, statuses: [204] },
    ]);
  },
  scaled(120_000),
);
