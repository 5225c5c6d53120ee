import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { type RequestHandler, Router } from 'express';
import { readJsonBody } from '#edge/http/json-body.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { isRoleOfKernel } from '#kernel/registry/roles.ts';
import type { OwnRoutes } from '#process/own-routes.ts';
import { policyOf } from '#shared/policy.ts';
import { whyRefused } from './check.ts';
import { declaredIn, type FileChange, listIn, writePlan } from './declaration/plan.ts';
import { FIELD_TYPES } from './declaration/sketch.ts';
import { planChange } from './sketch-form.ts';

const BODY_BYTES_MAX = 200_000;
const PATH = '/develop/declaration';

type Served = {
  /** The files of the domain, from this folder. */
  readonly files: readonly string[];
  readonly domain: Domain;
};
type CallerOf = Parameters<OwnRoutes>[0]['callerOf'];

/**
 * The door of development: administrators change the files of the domain from the console of their own machine.
 * Only `dev` serves these routes, beside those of the installation.
 */
export const developRoutes =
  ({ files, domain }: Served, own: OwnRoutes | undefined): OwnRoutes =>
  (tools) => {
    const guard = demandAuthor(domain, tools.callerOf);
    const body = readJsonBody(BODY_BYTES_MAX);
    const inTurn = oneAtATime();
    const router = Router()
      .get(PATH, guard, async (_request, response) => {
        response.set('Cache-Control', 'no-store').json(await stateOf(await listFileAmong(files), domain));
      })
      .post(`${PATH}/preview`, guard, ...body, async ({ body: given }, response) => {
        response.set('Cache-Control', 'no-store').json(shown(await planned(files, given)));
      })
      .post(PATH, guard, ...body, async ({ body: given }, response) => {
        const changes = await inTurn(() => written(files, given));
        response.set('Cache-Control', 'no-store').json(shown(changes));
      });
    if (own === undefined) return router;
    const handle: unknown = own(tools);
    // The server of own routes says what is wrong with them.
    return typeof handle === 'function'
      ? Router().use(router, handle as RequestHandler)
      : (handle as ReturnType<OwnRoutes>);
  };

/** An administrator, at this machine, on a page of this server. */
const demandAuthor = (domain: Domain, callerOf: CallerOf): RequestHandler => {
  const scope = policyOf(domain).rights.get('operations.manage')?.scope ?? '';
  return (request, _response, next) => {
    const caller = callerOf(request);
    if (caller === undefined) throw new Rejection('unauthenticated');
    const mayManage = caller.role === 'admin' && caller.scopes.has(scope);
    if (!mayManage || !isLocal(request) || !isOfThisPage(request)) throw new Rejection('forbidden');
    next();
  };
};

const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/;

/** Another name may be that of a page which leads it to this machine. */
const LOCAL_HOST = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/;

/** Not through a proxy either, which would be local for everybody. */
const isLocal = ({ socket, headers }: IncomingMessage): boolean =>
  LOOPBACK.test(socket.remoteAddress ?? '') &&
  LOCAL_HOST.test(headers.host ?? '') &&
  ['forwarded', 'via', 'x-forwarded-for', 'x-real-ip'].every((name) => headers[name] === undefined);

/** Browsers name the origin of a page that sends something, and of no page of ours is it another. */
const isOfThisPage = ({ headers }: IncomingMessage): boolean =>
  (headers.origin === undefined || URL.parse(headers.origin)?.host === headers.host) &&
  (headers['sec-fetch-site'] === undefined || headers['sec-fetch-site'] === 'same-origin');

/** The file with the list of aggregates. */
const listFileAmong = async (files: readonly string[]): Promise<string> => {
  for (const path of files)
    if (!path.startsWith('..') && /\bassemble\(/.test(await readFile(path, 'utf8').catch(() => '')))
      return path;
  throw refusal('No file of this folder has assemble(base, […]): change the declaration by hand.');
};

const stateOf = async (file: string, domain: Domain) =>
  asProblem(async () => ({
    file,
    roles: domain.roles.filter((role) => role !== 'anonymous' && !isRoleOfKernel(domain, role)),
    served: Object.fromEntries(
      Object.values(domain.kinds).map(({ name, path, fields }) => [
        name,
        { path, fields: Object.keys(fields) },
      ]),
    ),
    types: Object.entries(FIELD_TYPES).map(([type, { title, takes, options, ...more }]) => ({
      ...{ type, title, takes, options, ...more },
    })),
    aggregates: (await declaredIn(file, await listIn(file))).map(({ kind, path }) => ({ kind, path })),
  }));

const planned = async (files: readonly string[], given: unknown): Promise<readonly FileChange[]> => {
  const file = await listFileAmong(files);
  return asProblem(() => planChange(file, given));
};

const written = async (files: readonly string[], given: unknown): Promise<readonly FileChange[]> => {
  const changes = await planned(files, given);
  const why = await whyRefused(await listFileAmong(files), changes);
  if (why !== undefined) throw refusal(why);
  await asProblem(() => writePlan(changes));
  return changes;
};

/** Two changes at once would both read the list of aggregates before either writes it. */
const oneAtATime = () => {
  let last: Promise<unknown> = Promise.resolve();
  return <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = last.then(work, work);
    last = result;
    return result;
  };
};

const shown = (changes: readonly FileChange[]) => ({
  files: changes.map(({ path, text, was }) => ({ path, text, isNew: was === undefined })),
});

const asProblem = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    throw error instanceof StartRefused ? refusal(error.message) : error;
  }
};

const refusal = (detail: string): HttpProblem => new HttpProblem('invalid_request', { detail });
