import type { Request, Response } from 'express';
import { errors, type InteractionResults, type Provider } from 'oidc-provider';
import type { Clients } from '../clients/clients.ts';
import { formTargetsOf } from '../pages/form-targets.ts';
import { EXPIRED } from '../pages/message-page.ts';
import type { StoredClient } from '../storage/client.ts';
import { PageRefusal } from './page-refusal.ts';

/** One prompt of oidc-provider to the person at the browser, found by its cookie and its path. */
export type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;
export type Asked = { readonly interaction: Interaction; readonly client: StoredClient | undefined };

export type InteractionDependencies = {
  readonly provider: Provider;
  readonly clients: Pick<Clients, 'find'>;
  readonly issuerUrl: string;
};

/** Returns the prompt that this page is for, or shows that it has expired. */
export const askedOf = async (
  { provider, clients }: InteractionDependencies,
  prompt: 'login' | 'consent',
  request: Request,
  response: Response,
): Promise<Asked> => {
  const interaction = await provider.interactionDetails(request, response).catch((cause: unknown) => {
    if (cause instanceof errors.SessionNotFound) throw new PageRefusal(EXPIRED, { cause });
    throw cause;
  });
  if (interaction.uid !== request.params.uid || interaction.prompt.name !== prompt)
    throw new PageRefusal(EXPIRED);
  return { interaction, client: await clients.find(textOf(interaction.params.client_id) ?? '') };
};

/** Answers the prompt; the browser returns to oidc-provider by a 303. */
export const finish = async (
  { provider }: InteractionDependencies,
  { request, response, result }: { request: Request; response: Response; result: InteractionResults },
): Promise<void> => {
  response.set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'same-origin' });
  await provider.interactionFinished(request, response, result, {
    mergeWithLastSubmission: result.consent !== undefined,
  });
};

export const CANCELLED: InteractionResults = {
  error: 'access_denied',
  error_description: 'The user did not allow it.',
};

export const clientNameOf = ({ client, interaction }: Asked): string =>
  client?.name ?? textOf(interaction.params.client_id) ?? 'the application';

/** Where a form that answers the prompt may end: first the issuer's own address, then the client's. */
export const formTargetsFor = (
  { issuerUrl }: InteractionDependencies,
  { interaction, client }: Asked,
): readonly string[] => {
  const uri = redirectUriOf(interaction, client);
  const uris =
    interaction.deviceCode === undefined
      ? [...(uri === undefined ? [] : [uri]), ...(client?.redirectUris ?? [])]
      : [];
  return formTargetsOf([issuerUrl, ...uris]);
};

/** Undefined for a device, which has no redirect. */
export const redirectUriOf = (
  { params, deviceCode }: Interaction,
  client: StoredClient | undefined,
): string | undefined =>
  deviceCode === undefined ? (textOf(params.redirect_uri) ?? client?.redirectUris[0]) : undefined;

export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
