import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { type RequestHandler, Router } from 'express';
import { readJsonBody } from '#edge/http/json-body.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { OwnRoutes } from '#process/own-routes.ts';
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
    const guard = demandAuthor(tools.callerOf);
    const body = readJsonBody(BODY_BYTES_MAX);
    const router = Router()
      .get(PATH, guard, async (_request, response) => {
        response.set('Cache-Control', 'no-store').json(await stateOf(await listFileAmong(files), domain));
      })
      .post(`${PATH}/preview`, guard, ...body, async ({ body: given }, response) => {
        response.set('Cache-Control', 'no-store').json(shown(await planned(files, given)));
      })
      .post(PATH, guard, ...body, async ({ body: given }, response) => {
        const changes = await planned(files, given);
        const file = await listFileAmong(files);
        const why = await whyRefused(file, changes);
        if (why !== undefined) throw refusal(why);
        await asProblem(() => writePlan(changes));
        response.set('Cache-Control', 'no-store').json(shown(changes));
      });
    return own === undefined ? router : Router().use(router, own(tools) as RequestHandler);
  };

/** An administrator, at this machine, on a page of this server. */
const demandAuthor =
  (callerOf: CallerOf): RequestHandler =>
  (request, _response, next) => {
    const caller = callerOf(request);
    if (caller === undefined) throw new Rejection('unauthenticated');
    if (caller.role !== 'admin' || !isLocal(request) || !isOfThisPage(request))
      throw new Rejection('forbidden');
    next();
  };

const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/;

/** Not through a proxy either, which would be local for everybody. */
const isLocal = ({ socket, headers }: IncomingMessage): boolean =>
  LOOPBACK.test(socket.remoteAddress ?? '') &&
  headers.forwarded === undefined &&
  headers['x-forwarded-for'] === undefined;

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
    roles: domain.roles.filter((role) => role !== 'anonymous' && role !== 'admin'),
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
