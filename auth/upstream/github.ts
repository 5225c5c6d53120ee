import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  fetchProtectedResource,
} from 'openid-client';
import * as z from 'zod';
import type { Upstream } from '#process/upstreams.ts';
import { clientOf, failureOf } from './client.ts';
import { type Connection, UpstreamFailed, type UpstreamPerson } from './connection.ts';

type GitHub = Extract<Upstream, { kind: 'github' }>;

/** Its number stays, whatever the person calls themselves. */
const Profile = z.object({ id: z.int().positive(), login: z.string(), name: z.string().nullish() });
const Emails = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }));

/**
 * GitHub speaks OAuth without OpenID Connect: it issues no ID token, so the API says who has signed in, and nothing
 * says when.
 */
export const gitHubConnection = (upstream: GitHub): Connection => {
  const { name, label, issuer } = upstream;
  const base = issuer.replace(/\/+$/, '');
  const client = () =>
    clientOf(upstream, {
      issuer,
      authorization_endpoint: `${base}/login/oauth/authorize`,
      token_endpoint: `${base}/login/oauth/access_token`,
      token_endpoint_auth_methods_supported: ['client_secret_post'],
    });
  return {
    name,
    label,
    provesFreshness: false,
    begin: async ({ redirectUri, state, verifier }) =>
      buildAuthorizationUrl(client(), {
        scope: 'read:user user:email',
        redirect_uri: redirectUri,
        response_type: 'code',
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
      }),
    async finish({ redirectUri, state, verifier }, query) {
      try {
        const using = client();
        const { access_token: token } = await authorizationCodeGrant(
          using,
          new URL(`${redirectUri}?${query}`),
          { expectedState: state, pkceCodeVerifier: verifier },
        );
        return await readPerson(upstream, using, token);
      } catch (error) {
        throw failureOf(error);
      }
    },
  };
};

const readPerson = async (
  { issuer, api }: GitHub,
  client: Configuration,
  token: string,
): Promise<UpstreamPerson> => {
  const ask = async <Content>(path: string, schema: z.ZodType<Content>): Promise<Content> => {
    const url = new URL(`${api.replace(/\/+$/, '')}${path}`);
    const headers = new Headers({
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
    });
    const answer = await fetchProtectedResource(client, token, url, 'GET', undefined, headers);
    if (!answer.ok) {
      const cause = new Error(`GET ${path} was answered with ${answer.status}`);
      throw new UpstreamFailed(answer.status >= SERVER_ERROR ? 'unreachable' : 'unverified', { cause });
    }
    return schema.parse(await answer.json());
  };
  const profile = await ask('/user', Profile);
  const address = (await ask('/user/emails', Emails)).find(({ primary }) => primary);
  return {
    issuer,
    subject: String(profile.id),
    email: address?.email,
    isEmailVerified: address?.verified === true,
    name: profile.name?.trim() || profile.login,
    claims: { login: profile.login },
    authenticatedAtS: undefined,
  };
};

const SERVER_ERROR = 500;
