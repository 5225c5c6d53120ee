import type { Pool } from '#shared/database/pool.ts';
import type { Log } from '#shared/log.ts';
import type { StoredClient } from '../storage/client.ts';
import { DEVELOPMENT_ADMIN } from './built-in.ts';
import type { By } from './by.ts';
import type { Clients } from './clients.ts';

/** A client without scopes that the domain has got since the client was last changed. */
type Lacking = { readonly clientId: string; readonly scopes: readonly string[] };

/**
 * Records the scopes of the domain, and returns the clients that lack scopes added since their last change.
 * Excludes clients that registered themselves and clients without any of our scopes.
 */
export const findNewScopes = async (pool: Pool, scopes: readonly string[]): Promise<readonly Lacking[]> => {
  await pool.query(NOTE, [scopes]);
  const { rows } = await pool.query<Lacking>(LACKING, [scopes, DEVELOPMENT_ADMIN]);
  return rows;
};

/** The scopes of a new installation predate its clients. */
const NOTE = `
  insert into auth.known_scope (scope, since)
  select scope, case when exists (select from auth.known_scope) then now() else 'epoch' end from unnest($1::text[]) scope
  on conflict do nothing`;

const LACKING = `
  select client_id as "clientId", array_agg(known.scope order by known.since, known.scope) as scopes
  from auth.client join auth.known_scope known on known.since > updated_at
  where known.scope = any($1) and known.scope <> all(client.scopes) and client.scopes && $1 and not self_registered and client_id <> $2
  group by client_id order by client_id collate "C"`;

type Dependencies = {
  readonly pool: Pool;
  readonly scopes: readonly string[];
  readonly log: Pick<Log, 'warn'>;
};

export const logNewScopes = async ({ pool, scopes, log }: Dependencies): Promise<void> => {
  const lacking = await findNewScopes(pool, scopes);
  if (lacking.length === 0) return;
  const clients = Object.fromEntries(lacking.map(({ clientId, scopes: lacked }) => [clientId, lacked]));
  log.warn({ clients }, NEW_SCOPES);
};

const NEW_SCOPES =
  'Clients lack scopes that were added to the domain after their last change: grant them with `npm run annals -- client grant-scopes`, or change the client in any other way to keep it without them.';

/** A client whose default is all of its scopes keeps that default. */
export const grantScopes = async (
  clients: Pick<Clients, 'change'>,
  { clientId, scopes }: Lacking,
  by: By,
): Promise<StoredClient> => {
  const withThem = (held: readonly string[]) => [...new Set([...held, ...scopes])];
  const { client } = await clients.change(
    clientId,
    {
      apply: (settings) => ({
        ...settings,
        scopes: withThem(settings.scopes),
        defaultScopes:
          settings.defaultScopes.length === settings.scopes.length
            ? withThem(settings.defaultScopes)
            : settings.defaultScopes,
      }),
    },
    by,
  );
  return client;
};
