import type { JsonObject } from '#kernel/base/json.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import type { OpenParts } from '#shared/person-export/section.ts';
import { identitiesOf } from '../identities/identities.ts';
import { passkeysOf } from '../passkeys/passkeys.ts';
import { tokensOf } from '../personal-tokens/personal-tokens.ts';
import { readAllowedClients } from '../storage/grants.ts';
import type { RecordSeal } from '../storage/seal-record.ts';
import { openSessionsOf } from '../storage/sessions.ts';

type Dependencies = {
  readonly pool: Pool;
  readonly keys: Pick<KeyStore, 'obtain' | 'find'>;
  readonly seal: RecordSeal;
};

/** The rows of this server that are encrypted as a whole, without what lets somebody sign in or act. */
export const openPartsOf = (dependencies: Dependencies): OpenParts => {
  const { pool, seal } = dependencies;
  return {
    passkeys: (userId) => each(passkeysOf(dependencies, userId)),
    'personal access tokens': (userId) =>
      each(
        tokensOf(dependencies, userId).then((all) =>
          all.map(({ id, name, scopes, madeAt, expiresAt, usedAt }) => ({
            ...{ id, name, scopes, madeAt, expiresAt, usedAt },
          })),
        ),
      ),
    'linked accounts': (userId) => each(identitiesOf(dependencies, userId)),
    async *'sessions and grants'(userId) {
      for await (const [, { uid, signedInAtS, seen }] of openSessionsOf(pool, seal, userId))
        yield {
          kind: 'session',
          id: uid,
          signedInAt: dateOf(signedInAtS),
          ...(seen && { browser: seen.browser, network: seen.network, lastSeenAt: dateOf(seen.atS) }),
        };
      for (const { clientId, scopes, sinceS, usedAtS } of await readAllowedClients({ pool, seal })(userId))
        yield {
          ...{ kind: 'application', client: clientId, scopes, allowedAt: dateOf(sinceS) },
          lastUsedAt: usedAtS === undefined ? null : dateOf(usedAtS),
        };
    },
  };
};

const MS_PER_SECOND = 1_000;
const dateOf = (atS: number): string => new Date(atS * MS_PER_SECOND).toISOString();

async function* each(read: Promise<readonly object[]>): AsyncGenerator<JsonObject> {
  for (const one of await read) yield { ...one };
}
