import { type Request, type Response, Router } from 'express';
import type { Provider } from 'oidc-provider';
import * as z from 'zod';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import { requestIdOf } from '#edge/http/request-context.ts';
import type { UserId } from '#kernel/base/brands.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { isAddress } from '#shared/clients/document-address.ts';
import type { Persons } from '../directory.ts';
import { answerPage } from '../pages/answer-page.ts';
import { consentPage, consentRefusedPage } from '../pages/consent-page.ts';
import type { FormTokens } from '../pages/form-token.ts';
import { EXPIRED, FORGED } from '../pages/message-page.ts';
import { inWords } from '../pages/scope-words.ts';
import type { ReadProfile } from '../provider/profile.ts';
import type { RecordSecurityEvent } from '../security/security-log.ts';
import { type ConfirmedDependencies, mustConfirm } from './confirmed.ts';
import { fieldsOf, formToken, readForm } from './form.ts';
import {
  type Asked,
  askedOf,
  CANCELLED,
  clientNameOf,
  finish,
  formTargetsFor,
  type Interaction,
  type InteractionDependencies,
  redirectUriOf,
  textOf,
} from './interaction.ts';
import { PageRefusal } from './page-refusal.ts';

type ConsentDependencies = InteractionDependencies &
  ConfirmedDependencies & {
    readonly domain: Domain;
    readonly persons: Persons;
    readonly tokens: FormTokens;
    readonly record: RecordSecurityEvent;
    readonly readProfile: ReadProfile;
  };

const Consent = z.object({ token: formToken, decision: z.enum(['allow', 'deny']) });

export const consentRoutes = (dependencies: ConsentDependencies): Router =>
  Router()
    .get('/consent/:uid', async (request, response) => {
      const asked = await askedOf(dependencies, 'consent', request, response);
      // Our own applications do not ask for consent.
      if (asked.client?.firstParty) return allow(dependencies, asked, { request, response, byUser: false });
      const isUnconfirmed = await mustConfirm(dependencies, Number(userIdOf(asked)) as UserId);
      answerPage(
        response,
        isUnconfirmed ? refusalOf(dependencies, asked) : await pageOf(dependencies, asked),
      );
    })
    .post('/consent/:uid', ...readForm, async (request, response) => {
      const form = fieldsOf(Consent, request);
      const asked = await askedOf(dependencies, 'consent', request, response);
      const { uid } = asked.interaction;
      if (!dependencies.tokens.verify(form.token, 'consent', [uid, userIdOf(asked)]))
        throw new PageRefusal(FORGED);
      if (form.decision === 'deny') return finish(dependencies, { request, response, result: CANCELLED });
      if (await mustConfirm(dependencies, Number(userIdOf(asked)) as UserId))
        throw new PageRefusal(refusalOf(dependencies, asked));
      return allow(dependencies, asked, { request, response, byUser: true });
    })
    .all('/consent/:uid', refuseOtherMethods('GET', 'HEAD', 'POST'));

/** The user who is signed in when oidc-provider asks for consent. */
const userIdOf = ({ interaction }: Asked): string => {
  if (interaction.session === undefined) throw new PageRefusal(EXPIRED);
  return interaction.session.accountId;
};

/** `byUser`: the user was asked and has allowed it. */
const allow = async (
  dependencies: ConsentDependencies,
  asked: Asked,
  { request, response, byUser }: { request: Request; response: Response; byUser: boolean },
): Promise<void> => {
  const userId = userIdOf(asked);
  const { grantId, clientId, scopes } = await consent(dependencies.provider, asked.interaction, userId);
  if (byUser) {
    await dependencies.record(
      { type: 'grant.consented', data: { grantId, userId: Number(userId) as UserId, clientId, scopes } },
      { actor: `user:${Number(userId)}`, client: clientId, requestId: requestIdOf(request) },
    );
  }
  return finish(dependencies, { request, response, result: { consent: { grantId } } });
};

const pageOf = async (dependencies: ConsentDependencies, asked: Asked) => {
  const { interaction, client } = asked;
  const userId = userIdOf(asked);
  const person = await dependencies.persons.byId(Number(userId) as UserId);
  const { name } = await dependencies.readProfile(Number(userId) as UserId);
  return consentPage({
    action: `/consent/${interaction.uid}`,
    token: dependencies.tokens.issue('consent', [interaction.uid, userId]),
    clientName: clientNameOf(asked),
    scopes: inWords(dependencies.domain, await askedScopes(dependencies.provider, interaction)),
    destination: destinationOf(redirectUriOf(interaction, client)),
    userName: name,
    isAdmin: person?.role === 'admin',
    isSelfRegistered: client?.selfRegistered ?? true,
    address: client !== undefined && isAddress(client.clientId) ? client.clientId : undefined,
    signOutUrl: '/sign-out',
    formTargets: formTargetsFor(dependencies, asked),
  });
};

/** A third-party application would be another way into an account whose address nobody has confirmed. */
const refusalOf = (dependencies: ConsentDependencies, asked: Asked) =>
  consentRefusedPage({
    action: `/consent/${asked.interaction.uid}`,
    token: dependencies.tokens.issue('consent', [asked.interaction.uid, userIdOf(asked)]),
    clientName: clientNameOf(asked),
    formTargets: formTargetsFor(dependencies, asked),
  });

const destinationOf = (uri: string | undefined): string | undefined => {
  if (uri === undefined || !URL.canParse(uri)) return undefined;
  const { protocol, host } = new URL(uri);
  return protocol === 'https:' || protocol === 'http:' ? host : 'an application on this device';
};

/** The scopes and claims that oidc-provider still wants to be allowed. */
const Missing = z.object({
  missingOIDCScope: z.array(z.string()).default([]),
  missingOIDCClaims: z.array(z.string()).default([]),
  missingResourceScopes: z.record(z.string(), z.array(z.string())).default({}),
});

const missingOf = ({ prompt }: Interaction) => Missing.parse(prompt.details);

type Grant = InstanceType<Provider['Grant']>;

const earlierGrant = async (provider: Provider, { grantId }: Interaction): Promise<Grant | undefined> =>
  grantId === undefined ? undefined : provider.Grant.find(grantId);

/** The scopes that the page names: new ones, and requested ones that were allowed before. */
const askedScopes = async (provider: Provider, interaction: Interaction): Promise<readonly string[]> => {
  const { missingOIDCScope, missingResourceScopes } = missingOf(interaction);
  const requested = new Set((textOf(interaction.params.scope) ?? '').split(' '));
  const granted = scopesOf(await earlierGrant(provider, interaction)).filter((scope) => requested.has(scope));
  return [...new Set([...granted, ...missingOIDCScope, ...Object.values(missingResourceScopes).flat()])];
};

const scopesOf = (grant: Grant | undefined): readonly string[] => {
  if (grant === undefined) return [];
  const resources = Object.keys(grant.resources ?? {});
  return [grant.getOIDCScope(), ...resources.map((resource) => grant.getResourceScope(resource))]
    .join(' ')
    .split(' ')
    .filter(Boolean);
};

/** Adds the newly allowed scopes to those allowed before. */
const consent = async (
  provider: Provider,
  interaction: Interaction,
  accountId: string,
): Promise<{ grantId: string; clientId: string; scopes: readonly string[] }> => {
  const clientId = textOf(interaction.params.client_id) ?? '';
  const earlier = await earlierGrant(provider, interaction);
  // A grant of another user is never extended, even if the user changed during the sign-in.
  const isTheirs = earlier?.accountId === accountId && earlier.clientId === clientId;
  const grant = earlier !== undefined && isTheirs ? earlier : new provider.Grant({ accountId, clientId });
  const { missingOIDCScope, missingOIDCClaims, missingResourceScopes } = missingOf(interaction);
  if (missingOIDCScope.length > 0) grant.addOIDCScope(missingOIDCScope.join(' '));
  if (missingOIDCClaims.length > 0) grant.addOIDCClaims(missingOIDCClaims);
  for (const [resource, scopes] of Object.entries(missingResourceScopes))
    grant.addResourceScope(resource, scopes.join(' '));
  return { grantId: await grant.save(), clientId, scopes: scopesOf(grant) };
};
