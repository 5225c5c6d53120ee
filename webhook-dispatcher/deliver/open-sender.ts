import type { Domain } from '#kernel/registry/registry.ts';
import { createChangeOpener } from '#shared/change-stream/open-change.ts';
import type { WebhookSettings } from '#shared/config.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import { createPresentRights } from '#shared/visibility/present-rights.ts';
import { createComposer } from './body.ts';
import type { Sender } from './delivery.ts';
import { openPoster } from './post.ts';
import { createSender } from './send.ts';
import { createStandsStill } from './standing-still.ts';

type Options = {
  readonly domain: Domain;
  /** Of the database with the read model. */
  readonly pool: Pick<Pool, 'query'>;
  readonly eventLog: Pick<EventLog, 'identity' | 'read'>;
  readonly keys: Pick<KeyStore, 'obtain' | 'find'>;
  readonly settings: Pick<WebhookSettings, 'guard' | 'timeoutMs' | 'retryDelaysMs'>;
};

export const openSender = ({ domain, pool, eventLog, keys, settings }: Options): Sender & AsyncDisposable => {
  const poster = openPoster({ rules: settings.guard, timeoutMs: settings.timeoutMs });
  const compose = createComposer({
    domain,
    identity: eventLog.identity,
    open: createChangeOpener({ domain, eventLog, keys }),
    isReadable: createPresentRights({ domain, run: async (text, values) => (await pool.query(text, [...values])).rows }),
    standsStill: createStandsStill(domain, pool),
  });
  return {
    ...createSender({ compose, poster, retryDelaysMs: settings.retryDelaysMs }),
    [Symbol.asyncDispose]: () => poster[Symbol.asyncDispose](),
  };
};
