import { type Request, type RequestHandler, type Response, Router } from 'express';
import type * as z from 'zod';
import type { Domain } from '#kernel/registry/registry.ts';
import { type ClientSettings, clientSettingsOf } from '#shared/clients/settings.ts';
import { refuseOtherMethods } from '#shared/http/answer-errors.ts';
import { callerOf } from '#shared/http/authenticate/authenticate.ts';
import { entityTagOf, versionsDemandedBy } from '#shared/http/entity-tag.ts';
import { readJsonBody } from '#shared/http/json-body.ts';
import { demandPreferredType } from '#shared/http/media-type.ts';
import { parseInput } from '#shared/http/parse-input.ts';
import { requestIdOf } from '#shared/http/request-context.ts';
import { authorize } from '#shared/policy.ts';
import { Rejection } from '#shared/rejection.ts';
import { ClientPage, clientForms, clientOperations } from '#shared/rest/clients.ts';
import { routeOf } from '#shared/rest/operation.ts';
import { answerJson } from '../answer-json.ts';
import type { By } from './by.ts';
import type { ClientAndSecret } from './client.ts';
import type { Clients } from './clients.ts';
import { representationOf } from './representation.ts';

/** `/clients`, for administrators with the scope `manage:clients`. */
type Dependencies = { readonly domain: Domain; readonly clients: Clients; readonly bodyBytesMax: number };

export const clientRoutes = ({ domain, clients, bodyBytesMax }: Dependencies): Router => {
  const {
    listClients,
    createClient,
    getClient,
    replaceClient,
    editClient,
    deleteClient,
    rotateClientSecret,
  } = clientOperations(domain);
  const body = (operation: { readonly body: object }) =>
    readJsonBody(bodyBytesMax, Object.keys(operation.body));
  const { list, create, show, put, patch, remove, rotate } = handlersOf(domain, clients);
  return Router()
    .use('/clients', demandManager)
    .get(routeOf(listClients), list)
    .post(routeOf(createClient), ...body(createClient), create)
    .all(routeOf(listClients), refuseOtherMethods('GET', 'HEAD', 'POST'))
    .get(routeOf(getClient), show)
    .put(routeOf(replaceClient), ...body(replaceClient), put)
    .patch(routeOf(editClient), ...body(editClient), patch)
    .delete(routeOf(deleteClient), remove)
    .all(routeOf(getClient), refuseOtherMethods('GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'))
    .post(routeOf(rotateClientSecret), rotate)
    .all(routeOf(rotateClientSecret), refuseOtherMethods('POST'));
};

const MEDIA_TYPES = ['application/json'] as const;

const demandManager: RequestHandler = (request, _response, next) => {
  const answer = authorize(callerOf(request), 'client.manage', {});
  if (answer !== 'allowed') throw answer;
  demandPreferredType(request, MEDIA_TYPES);
  next();
};

type Handler = (request: Request<{ clientId: string }>, response: Response) => Promise<void>;

const handlersOf = (domain: Domain, clients: Clients) =>
  handlersFor({ ...clientForms(domain), ...clientSettingsOf(domain) }, clients);

type Forms = ReturnType<typeof clientForms> & Pick<ReturnType<typeof clientSettingsOf>, 'ClientSettings'>;

const handlersFor = (
  { NewClient, ClientReplacement, ClientPatch, ClientSettings }: Forms,
  clients: Clients,
) => ({
  list: (async (request, response) => {
    const { limit, after } = parseInput(ClientPage, request.query);
    const found = await clients.list(after, limit + 1);
    const items = found.slice(0, limit);
    const last = items.at(-1);
    const uses = await clients.usesOf(items.map(({ clientId }) => clientId));
    if (found.length > limit && last !== undefined) {
      response.set(
        'Link',
        `</clients?limit=${limit}&after=${Buffer.from(last.clientId).toString('base64url')}>; rel="next"`,
      );
    }
    answerJson(request, response, {
      text: JSON.stringify(
        items.map((client) => representationOf({ client, usedAt: uses.get(client.clientId) })),
      ),
      version: 0,
    });
  }) satisfies Handler,

  create: (async (request, response) => {
    const { clientId, ...settings } = parseInput(NewClient, request.body);
    const made = await clients.register({ clientId, settings }, byOf(request));
    response.status(201).location(`/clients/${made.client.clientId}`);
    answerClient(request, response, { ...made, usedAt: undefined });
  }) satisfies Handler,

  show: (async (request, response) => {
    const client = await clients.find(request.params.clientId);
    if (client === undefined) throw new Rejection('client_not_found');
    const usedAt = await useOf(clients, request);
    answerClient(request, response, { client, secret: undefined, usedAt });
  }) satisfies Handler,

  put: (async (request, response) => {
    const settings = parseInput(ClientReplacement, request.body);
    const edit = { ifVersions: versionsDemandedBy(request), apply: () => settings };
    const usedAt = await useOf(clients, request);
    const changed = await clients.change(request.params.clientId, edit, byOf(request));
    answerClient(request, response, { ...changed, usedAt });
  }) satisfies Handler,

  patch: (async (request, response) => {
    const sent = parseInput(ClientPatch, request.body);
    const apply = (settings: ClientSettings) => parseInput(ClientSettings, patched(settings, sent));
    const edit = { ifVersions: versionsDemandedBy(request), apply };
    const usedAt = await useOf(clients, request);
    const changed = await clients.change(request.params.clientId, edit, byOf(request));
    answerClient(request, response, { ...changed, usedAt });
  }) satisfies Handler,

  remove: (async (request, response) => {
    await clients.remove(request.params.clientId, versionsDemandedBy(request), byOf(request));
    response.status(204).end();
  }) satisfies Handler,

  rotate: (async (request, response) => {
    const usedAt = await useOf(clients, request);
    const rotated = await clients.rotateSecret(request.params.clientId, byOf(request));
    answerClient(request, response, { ...rotated, usedAt });
  }) satisfies Handler,
});

/** A patch that removes scopes and does not mention the default scopes removes them there too. */
const patched = (settings: ClientSettings, patch: z.output<Forms['ClientPatch']>): unknown => {
  const { scopes } = patch;
  const defaultScopes = settings.defaultScopes.filter(
    (scope) => scopes === undefined || scopes?.includes(scope),
  );
  return mergePatch({ ...settings, defaultScopes }, patch);
};

const byOf = (request: Request<{ clientId: string }>): By => ({
  caller: callerOf(request),
  requestId: requestIdOf(request),
});

/** A change reads this first: a failed read after the commit would lose the new secret. */
const useOf = async (
  clients: Pick<Clients, 'usesOf'>,
  { params: { clientId } }: Request<{ clientId: string }>,
): Promise<Date | undefined> => (await clients.usesOf([clientId])).get(clientId);

/** The response cannot fail: it may be the only one with the secret. */
const answerClient = (
  request: Request<{ clientId: string }>,
  response: Response,
  { client, secret, usedAt }: ClientAndSecret & { readonly usedAt: Date | undefined },
): void => {
  // The tag equals that of a later GET.
  const shown = JSON.stringify(representationOf({ client, usedAt }));
  const text = secret === undefined ? shown : JSON.stringify(representationOf({ client, secret, usedAt }));
  response.set('ETag', entityTagOf(client.version, shown));
  answerJson(request, response, { text, version: client.version });
};

/** Applies a JSON merge patch (RFC 7396): null removes, an object is merged, anything else replaces. */
const mergePatch = (target: unknown, patch: unknown): unknown => {
  if (!isObject(patch)) return patch;
  const merged = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
