import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import { Provider } from 'oidc-provider';
import { startLocalServer } from './local-server.ts';

/** How somebody at the provider answers its next question. */
type Behaviour = {
  sub: string;
  email: string;
  isVerified: boolean;
  groups: readonly string[];
  /** In place of now. */
  signedInAtS: number | undefined;
  cancels: boolean;
  isDown: boolean;
  /** From the next keys on, ID tokens have all claims but the groups, which userinfo alone has. */
  isSplit: boolean;
};

/** `oidc-provider` with its own storage, as identity provider of an installation: nobody has to click there. */
export type IdentityProvider = AsyncDisposable & {
  readonly issuer: string;
  readonly behaviour: Behaviour;
  /** Registers where an installation is sent back to. */
  allow(redirectUri: string): Promise<void>;
  /** From now on tokens are signed with other keys. */
  rotateKeys(): Promise<void>;
};

export const CLIENT = { clientId: 'annals', clientSecret: 'a secret of thirty-two characters' } as const;

export const startIdentityProvider = async (): Promise<IdentityProvider> => {
  let handle: RequestListener = (_request, response) => void response.writeHead(503).end();
  const redirectUris: string[] = [];
  const server = await startLocalServer((request, response) => handle(request, response));
  const behaviour: Behaviour = {
    sub: randomUUID(),
    email: 'ada@example.org',
    isVerified: true,
    groups: [],
    signedInAtS: undefined,
    cancels: false,
    isDown: false,
    isSplit: false,
  };
  const rotateKeys = async (): Promise<void> => {
    const provider = new Provider(server.url, configurationOf(behaviour, redirectUris, await newKey()));
    const callback = provider.callback();
    handle = (request, response) => {
      if (behaviour.isDown) return void response.writeHead(503).end();
      if (request.url?.startsWith('/interaction/') !== true) return void callback(request, response);
      const { sub: accountId, signedInAtS: ts, cancels } = behaviour;
      const login = { accountId, ...(ts !== undefined && { ts }) };
      const result = cancels ? { error: 'access_denied' } : { login };
      return void provider.interactionFinished(request, response, result);
    };
  };
  await rotateKeys();
  return {
    issuer: server.url,
    behaviour,
    rotateKeys,
    allow: (redirectUri) => {
      redirectUris.push(redirectUri);
      return rotateKeys();
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
};

const newKey = async () => {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: randomUUID(), use: 'sig', alg: 'ES256' };
};

const configurationOf = (
  behaviour: Behaviour,
  redirectUris: readonly string[],
  key: Awaited<ReturnType<typeof newKey>>,
): ConstructorParameters<typeof Provider>[1] => ({
  jwks: { keys: [key] },
  clients: [
    {
      client_id: CLIENT.clientId,
      client_secret: CLIENT.clientSecret,
      redirect_uris: [...redirectUris],
      id_token_signed_response_alg: 'ES256',
    },
  ],
  cookies: { keys: ['a key of the cookies'] },
  pkce: { required: () => true },
  conformIdTokenClaims: !behaviour.isSplit,
  claims: {
    openid: ['sub', 'groups'],
    email: ['email', 'email_verified'],
    profile: ['name'],
  },
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
  findAccount: (_ctx, accountId) => ({
    accountId,
    claims: async (use) => ({
      sub: accountId,
      name: 'Ada King',
      email: behaviour.email,
      email_verified: behaviour.isVerified,
      ...(use === 'id_token' && behaviour.isSplit ? {} : { groups: [...behaviour.groups] }),
    }),
  }),
  /** Nobody is asked for consent. */
  async loadExistingGrant(ctx) {
    const { provider, client, session } = ctx.oidc;
    const grant = new provider.Grant({
      clientId: client?.clientId ?? '',
      accountId: session?.accountId ?? '',
    });
    grant.addOIDCScope('openid email profile');
    grant.addOIDCClaims(['groups']);
    await grant.save();
    return grant;
  },
});
