import { oncePer } from '#kernel/base/once-per.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { AuthMethod, ClientSettings } from '#shared/clients/settings.ts';
import type { Log } from '#shared/log.ts';
import { type StoredClient, settingsOf } from '../storage/client.ts';
import type { Clients } from './clients.ts';

const BY_CERTIFICATE: readonly AuthMethod[] = ['tls_client_auth', 'self_signed_tls_client_auth'];
const BY_KEY: readonly AuthMethod[] = ['private_key_jwt', ...BY_CERTIFICATE];

type Rule = readonly [
  field: keyof ClientSettings,
  isBroken: (client: ClientSettings) => boolean,
  message: string,
];

/** Demands of the FAPI 2.0 Security Profile on a client, beyond those of OAuth 2.1. */
const RULES: readonly Rule[] = [
  [
    'tokenEndpointAuthMethod',
    (client) => !BY_KEY.includes(client.tokenEndpointAuthMethod),
    `FAPI 2.0 needs a client that authenticates by ${BY_KEY.join(', ')}.`,
  ],
  [
    'requirePar',
    (client) => client.grantTypes.includes('authorization_code') && !client.requirePar,
    'FAPI 2.0 needs pushed authorization requests (requirePar).',
  ],
  [
    'requireDpop',
    // The tokens of a client with a certificate are bound to it.
    (client) => !BY_CERTIFICATE.includes(client.tokenEndpointAuthMethod) && !client.requireDpop,
    'FAPI 2.0 needs tokens that are bound to a key (requireDpop), or a client with a certificate.',
  ],
];

/** A disabled client gets no tokens, so it may be anything. */
const brokenBy = (client: ClientSettings): readonly Rule[] =>
  client.disabled ? [] : RULES.filter(([, isBroken]) => isBroken(client));

const demandFapi = (client: ClientSettings): ClientSettings => {
  const broken = brokenBy(client);
  if (broken.length === 0) return client;
  const errors = broken.map(([field, , detail]) => ({ pointer: `/${field}`, detail }));
  throw new Rejection('invalid_command', { errors }, { says: errors.map(({ detail }) => detail).join(' ') });
};

const meetsFapi = (client: StoredClient): boolean => brokenBy(settingsOf(client)).length === 0;

/** For an installation that demands FAPI 2.0: any other client is as good as disabled. */
export const withFapi = (clients: Clients): Clients => {
  const judged = oncePer(
    (client: StoredClient): StoredClient => (meetsFapi(client) ? client : { ...client, disabled: true }),
  );
  return {
    ...clients,
    async find(clientId) {
      const client = await clients.find(clientId);
      return client === undefined ? undefined : judged(client);
    },
    verifySecret: async () => false,
    register: (wanted, by) => clients.register({ ...wanted, settings: demandFapi(wanted.settings) }, by),
    change: (clientId, { apply, ...edit }, by) =>
      clients.change(clientId, { ...edit, apply: (settings) => demandFapi(apply(settings)) }, by),
  };
};

const PAGE = 500;
const NAMED_MAX = 20;

/** At the start, because they get no tokens any more. */
export const warnOfOthers = async (clients: Pick<Clients, 'list'>, log: Log): Promise<void> => {
  const others: string[] = [];
  let after: string | undefined = '';
  while (after !== undefined) {
    const page: readonly StoredClient[] = await clients.list(after, PAGE);
    others.push(...page.filter((client) => !meetsFapi(client)).map(({ clientId }) => clientId));
    after = page.length < PAGE ? undefined : page.at(-1)?.clientId;
  }
  if (others.length === 0) return;
  log.warn(
    { clients: others.slice(0, NAMED_MAX), count: others.length },
    'Clients get no tokens, because they do not meet FAPI 2.0 (OAUTH_PROFILE): change how they authenticate, or delete them.',
  );
};
