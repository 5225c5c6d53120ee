import { type Request, type RequestHandler, type Response, Router } from 'express';
import type * as z from 'zod';
import { callerOf } from '#edge/authenticate/authenticate.ts';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import { entityTagOf, versionsDemandedBy } from '#edge/http/entity-tag.ts';
import { readJsonBody } from '#edge/http/json-body.ts';
import { demandPreferredType } from '#edge/http/media-type.ts';
import { parseInput } from '#edge/http/parse-input.ts';
import { requestIdOf } from '#edge/http/request-context.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { routeOf } from '#kernel/base/rest/operation.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type ClientSettings, clientSettingsOf } from '#shared/clients/settings.ts';
import { authorize, rightByMethod } from '#shared/policy.ts';
import { ClientPage, clientForms, clientOperations } from '#shared/rest/clients.ts';
import { answerJson } from '../rest/answer-json.ts';
import { writeRoute } from '../rest/write-route.ts';
import type { ClientAndSecret } from '../storage/client.ts';
import {
  type KeyedWrites,
  type Settle,
  type SettleResult,
  settling,
  type Written,
} from '../storage/keyed-writes.ts';
import type { SettledBy } from './by.ts';
import type { Clients } from './clients.ts';
import { mergePatch } from './merge-patch.ts';
import { representationOf } from './representation.ts';

/** `/clients`, for administrators with the scope `manage:clients`. */
type Dependencies = {
  readonly domain: Domain;
  readonly clients: Clients;
  readonly keyedWrites: KeyedWrites;
  readonly bodyBytesMax: number;
};

export const clientRoutes = ({ domain, clients, keyedWrites, bodyBytesMax }: Dependencies): Router => {
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
  const write = (execute: Write) => writeRoute(keyedWrites, execute);
  return Router()
    .use('/clients', demandManager)
    .get(routeOf(listClients), list)
    .post(routeOf(createClient), ...body(createClient), write(create))
    .all(routeOf(listClients), refuseOtherMethods('GET', 'HEAD', 'POST'))
    .get(routeOf(getClient), show)
    .put(routeOf(replaceClient), ...body(replaceClient), write(put))
    .patch(routeOf(editClient), ...body(editClient), write(patch))
    .delete(routeOf(deleteClient), write(remove))
    .all(routeOf(getClient), refuseOtherMethods('GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'))
    .post(routeOf(rotateClientSecret), write(rotate))
    .all(routeOf(rotateClientSecret), refuseOtherMethods('POST'));
};

const MEDIA_TYPES = ['application/json'] as const;

const demandManager: RequestHandler = (request, _response, next) => {
  const caller = callerOf(request);
  const answer = authorize(caller, rightByMethod(caller, 'client.manage', request.method), {});
  if (answer !== 'allowed') throw answer;
  demandPreferredType(request, MEDIA_TYPES);
  next();
};

type Of = Request<{ clientId: string }>;
type Handler = (request: Of, response: Response) => Promise<void>;
type Write = (request: Of, settle: Settle) => Promise<Written>;

const handlersOf = (domain: Domain, clients: Clients) =>
  handlersFor({ ...clientForms(domain), ...clientSettingsOf(domain) }, clients);

type Forms = ReturnType<typeof clientForms> & Pick<ReturnType<typeof clientSettingsOf>, 'ClientSettings'>;

const handlersFor = (
  { NewClient, ClientReplacement, ClientPatch, ClientSettings }: Forms,
  clients: Clients,
) => {
  /** A change reads the use first: a failed read after the commit would lose the new secret. */
  const answerOf = async (request: Of): Promise<(result: ClientAndSecret) => Written> => {
    const usedAt = await useOf(clients, request);
    return (result) => writtenClient({ ...result, usedAt }, 200);
  };
  const change = async (
    request: Of,
    settle: Settle,
    apply: (settings: ClientSettings) => ClientSettings,
  ): Promise<Written> => {
    const edit = { ifVersions: versionsDemandedBy(request), apply };
    const answer = await answerOf(request);
    const by = byOf(request, settling(settle, answer));
    return answer(await clients.change(request.params.clientId, edit, by));
  };
  return {
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

    create: (async (request, settle) => {
      const { clientId, ...settings } = parseInput(NewClient, request.body);
      const answer = ({ client, secret }: ClientAndSecret): Written => ({
        ...writtenClient({ client, secret, usedAt: undefined }, 201),
        location: `/clients/${encodeURIComponent(client.clientId)}`,
      });
      return answer(await clients.register({ clientId, settings }, byOf(request, settling(settle, answer))));
    }) satisfies Write,

    show: (async (request, response) => {
      const client = await clients.find(request.params.clientId);
      if (client === undefined) throw new Rejection('client_not_found');
      const usedAt = await useOf(clients, request);
      answerJson(request, response, {
        text: JSON.stringify(representationOf({ client, usedAt })),
        version: client.version,
      });
    }) satisfies Handler,

    put: (async (request, settle) => {
      const settings = parseInput(ClientReplacement, request.body);
      return change(request, settle, () => settings);
    }) satisfies Write,

    patch: (async (request, settle) => {
      const sent = parseInput(ClientPatch, request.body);
      return change(request, settle, (settings) => parseInput(ClientSettings, patched(settings, sent)));
    }) satisfies Write,

    remove: (async (request, settle) => {
      const gone = (): Written => ({ status: 204 });
      const by = byOf(request, settling(settle, gone));
      await clients.remove(request.params.clientId, versionsDemandedBy(request), by);
      return gone();
    }) satisfies Write,

    rotate: (async (request, settle) => {
      const answer = await answerOf(request);
      return answer(
        await clients.rotateSecret(request.params.clientId, byOf(request, settling(settle, answer))),
      );
    }) satisfies Write,
  };
};

/** A patch that removes scopes and does not mention the default scopes removes them there too. */
const patched = (settings: ClientSettings, patch: z.output<Forms['ClientPatch']>): unknown => {
  const { scopes } = patch;
  const defaultScopes = settings.defaultScopes.filter(
    (scope) => scopes === undefined || scopes?.includes(scope),
  );
  return mergePatch({ ...settings, defaultScopes }, patch);
};

const byOf = <Result>(request: Of, settle: SettleResult<Result>): SettledBy<Result> => ({
  caller: callerOf(request),
  requestId: requestIdOf(request),
  settle,
});

const useOf = async (
  clients: Pick<Clients, 'usesOf'>,
  { params: { clientId } }: Of,
): Promise<Date | undefined> => (await clients.usesOf([clientId])).get(clientId);

type Shown = ClientAndSecret & { readonly usedAt: Date | undefined };

/** The response cannot fail: it may be the only one with the secret. Its tag equals that of a later GET. */
const writtenClient = ({ client, secret, usedAt }: Shown, status: 200 | 201): Written => {
  const shown = JSON.stringify(representationOf({ client, usedAt }));
  const text = secret === undefined ? shown : JSON.stringify(representationOf({ client, secret, usedAt }));
  return { status, entityTag: entityTagOf(client.version, shown), text };
};
