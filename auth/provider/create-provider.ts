import { calculateJwkThumbprint, decodeProtectedHeader, type JWK } from 'jose';
import {
  type Adapter,
  type AdapterFactory,
  type Client,
  errors,
  type KoaContextWithOIDC,
  Provider,
} from 'oidc-provider';
import type { PersonalTokenNow } from '#edge/authenticate/personal-tokens.ts';
import { problemOf } from '#edge/http/problem.ts';
import { namesOf } from '#edge/http/request-span.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Log } from '#shared/log.ts';
import type { Exchange } from '../agents/agents.ts';
import { allowLocalPaths } from '../clients/local-pages.ts';
import type { SigningKeys } from '../signing-keys/signing-keys.ts';
import { configurationOf, type ProviderSettings } from './configuration.ts';
import { findTokensOfOurs } from './find-tokens.ts';
import { fillInDefaults } from './request-defaults.ts';
import { shapeAnswers } from './shape-answers.ts';
import type { StructuredTokens } from './structured-tokens.ts';
import { exchangeTokens } from './token-exchange.ts';

export type ProviderDependencies = {
  readonly settings: ProviderSettings;
  readonly adapter: AdapterFactory;
  readonly tokens: StructuredTokens;
  /** Undefined for one that is not valid, and for any other token. */
  readonly findPersonalToken: (token: string) => Promise<PersonalTokenNow | undefined>;
  readonly log: Log;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Adds the middleware of other modules. */
  equip(provider: Provider): void;
  endGrant(grantId: string): Promise<void>;
  readonly noteExchange: (exchange: Exchange) => Promise<boolean>;
  verifySecret(clientId: string, secret: string): Promise<boolean>;
  /** Returns whether a proof or an assertion is used for the first time. */
  useOnce(client: string, jti: string, expiresAtS: number): Promise<boolean>;
};

/**
 * oidc-provider with all of our parts. It keeps the keys it was made with: other keys need a new provider.
 */
export const createProvider = (dependencies: ProviderDependencies, keys: SigningKeys): Provider => {
  const { settings, adapter, tokens, log, endGrant } = dependencies;
  const provider = new Provider(settings.issuer, { ...configurationOf(settings, keys), adapter });
  // We set the request's address ourselves, in proxy headers; see `speakAsIssuer`.
  provider.proxy = true;
  fillInDefaults(provider);
  rememberClients(provider, adapter('Client'));
  findTokensOfOurs(provider, { ...dependencies, resource: settings.resource });
  exchangeTokens(provider, { ...settings, ...dependencies });
  nameAccessToken(provider);
  guardBoundCodes(provider);
  allowLocalPaths(provider);
  compareSecretsByDigest(provider, dependencies);
  // oidc-provider's own checks first and saves later, so parallel requests could both pass.
  Object.assign(provider.ReplayDetection, { unique: dependencies.useOnce });
  shapeAnswers(provider, { tokens, endGrant, apiScopes: settings.apiScopes });
  dependencies.equip(provider);
  provider.on('server_error', (ctx, err) => {
    const names = { err, ...namesOf(ctx.req), path: ctx.path };
    if (isPutOff(ctx, err)) log.warn(names, 'A request to the authorization server failed temporarily.');
    else log.error(names, 'A request to the authorization server failed.');
  });
  provider.onerror = (err) =>
    log.warn({ err }, 'A client did not receive the response of the authorization server.');
  return provider;
};

/**
 * oidc-provider treats every error that is not the client's as its own; if an engine is unavailable just now,
 * a retry helps.
 */
const isPutOff = (ctx: KoaContextWithOIDC, error: unknown): boolean => {
  const { status, headers, body } = problemOf(error);
  if (body.code !== 'unavailable') return false;
  ctx.status = status;
  ctx.set({ ...headers });
  if (ctx.response.is('json')) ctx.body = { error: 'temporarily_unavailable', error_description: body.title };
  return true;
};

/**
 * oidc-provider caches clients by a digest of their metadata, which it computes on every request. Our adapter
 * returns the same object until a client changes, so the object itself is the cache key here.
 */
const rememberClients = (provider: Provider, adapter: Pick<Adapter, 'find'>): void => {
  const { Client } = provider;
  const findAgain = Client.find.bind(Client);
  const clients = new WeakMap<object, Client>();
  const find: typeof findAgain = async (id) => {
    const metadata = typeof id === 'string' ? await adapter.find(id) : undefined;
    if (!metadata) return undefined;
    const known = clients.get(metadata);
    if (known !== undefined) return known;
    const client = await findAgain(id);
    // It may have changed in the meantime.
    if (client !== undefined && (await adapter.find(id)) === metadata) clients.set(metadata, client);
    return client;
  };
  Object.assign(Client, { find });
};

const compareSecretsByDigest = (provider: Provider, { verifySecret }: ProviderDependencies): void => {
  Object.assign(provider.Client.prototype, {
    compareClientSecret(this: Client, secret: string) {
      return verifySecret(this.clientId, secret);
    },
  });
};

type Save = (this: object, ...given: unknown[]) => Promise<string>;
type IdToken = { readonly ctx: KoaContextWithOIDC | undefined; set(claim: string, value: string): void };
type Issue = (this: IdToken, options: { readonly use: string }) => Promise<string>;

/**
 * ID tokens name their access token by `at_hash` (OpenID Connect Core, section 3.1.3.6). It is optional if
 * both come from `/token`, but some clients require it to verify the access token.
 */
const nameAccessToken = (provider: Provider): void => {
  const values = new WeakMap<object, string>();
  const accessTokens = provider.AccessToken.prototype as unknown as { save: Save };
  const idTokens = provider.IdToken.prototype as unknown as { issue: Issue };
  const { save } = accessTokens;
  const { issue } = idTokens;
  accessTokens.save = async function (...given) {
    const value = await save.apply(this, given);
    values.set(this, value);
    return value;
  };
  // oidc-provider computes the digest.
  idTokens.issue = async function (options) {
    const { AccessToken: accessToken } = this.ctx?.oidc.entities ?? {};
    const value = accessToken === undefined ? undefined : values.get(accessToken);
    if (options.use === 'idtoken' && value !== undefined) this.set('at_hash', value);
    return issue.call(this, options);
  };
};

type Code = { readonly dpopJkt?: string | undefined };
type Consume = (this: Code) => Promise<void>;

/**
 * A code bound to a key beforehand (RFC 9449, section 10) works with that key only. oidc-provider refuses
 * another key after it has spent the code, so a thief without the key could use up the owner's code. This
 * checks first.
 */
const guardBoundCodes = (provider: Provider): void => {
  const codes = provider.AuthorizationCode.prototype as unknown as { consume: Consume };
  const { consume } = codes;
  codes.consume = async function () {
    if (this.dpopJkt !== undefined && (await thumbprintOfProof()) !== this.dpopJkt) {
      throw new errors.InvalidGrant('the code is bound to another key');
    }
    return consume.call(this);
  };
};

/** The key of the proof, which has just been verified. */
const thumbprintOfProof = async (): Promise<string | undefined> => {
  const proof = Provider.ctx?.get('DPoP') ?? '';
  return proof === '' ? undefined : calculateJwkThumbprint(decodeProtectedHeader(proof).jwk as JWK);
};
