import type { Provider } from 'oidc-provider';
import * as z from 'zod';
import { type Interaction, textOf } from './interaction.ts';

/** What oidc-provider says is still to be allowed. */
const Missing = z.object({
  missingOIDCScope: z.array(z.string()).default([]),
  missingOIDCClaims: z.array(z.string()).default([]),
  missingResourceScopes: z.record(z.string(), z.array(z.string())).default({}),
});

const missingOf = ({ prompt }: Interaction) => Missing.parse(prompt.details);

type Grant = InstanceType<Provider['Grant']>;

const earlierGrant = async (provider: Provider, { grantId }: Interaction): Promise<Grant | undefined> =>
  grantId === undefined ? undefined : provider.Grant.find(grantId);

/** What the page names: what is asked for anew, and of what was asked for what was allowed before. */
export const askedScopes = async (provider: Provider, interaction: Interaction): Promise<readonly string[]> => {
  const { missingOIDCScope, missingResourceScopes } = missingOf(interaction);
  const requested = new Set((textOf(interaction.params.scope) ?? '').split(' '));
  const granted = scopesOf(await earlierGrant(provider, interaction)).filter((scope) => requested.has(scope));
  return [...new Set([...granted, ...missingOIDCScope, ...Object.values(missingResourceScopes).flat()])];
};

const scopesOf = (grant: Grant | undefined): readonly string[] => {
  if (grant === undefined) return [];
  const resources = Object.keys(grant.resources ?? {});
  return [grant.getOIDCScope(), ...resources.map((resource) => grant.getResourceScope(resource))].join(' ').split(' ').filter(Boolean);
};

/** Writes down what was allowed, beside what was allowed before. */
export const consent = async (
  provider: Provider,
  interaction: Interaction,
  accountId: string,
): Promise<{ grantId: string; clientId: string; scopes: readonly string[] }> => {
  const clientId = textOf(interaction.params.client_id) ?? '';
  const earlier = await earlierGrant(provider, interaction);
  // A grant of somebody else is not added to, whoever signed in meanwhile.
  const isTheirs = earlier?.accountId === accountId && earlier.clientId === clientId;
  const grant = earlier !== undefined && isTheirs ? earlier : new provider.Grant({ accountId, clientId });
  const { missingOIDCScope, missingOIDCClaims, missingResourceScopes } = missingOf(interaction);
  if (missingOIDCScope.length > 0) grant.addOIDCScope(missingOIDCScope.join(' '));
  if (missingOIDCClaims.length > 0) grant.addOIDCClaims(missingOIDCClaims);
  for (const [resource, scopes] of Object.entries(missingResourceScopes)) grant.addResourceScope(resource, scopes.join(' '));
  return { grantId: await grant.save(), clientId, scopes: scopesOf(grant) };
};
