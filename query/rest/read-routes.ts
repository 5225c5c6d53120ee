import type { Request, RequestHandler } from 'express';
import type * as z from 'zod';
import { callerOf } from '#edge/authenticate/authenticate.ts';
import type { FastRoutes } from '#edge/http/fast-routes.ts';
import { takeMore } from '#edge/http/limit-rate.ts';
import { parametersOf } from '#edge/http/parameters.ts';
import { createRouteTable } from '#edge/http/route-table.ts';
import { recordedAs } from '#edge/read-log/recorded.ts';
import { demandAdmission } from '#edge/rest/admission.ts';
import { answerRead, type ReadAnswer } from '#edge/rest/reads/answer.ts';
import { routeOf } from '#kernel/base/rest/operation.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Caller } from '#shared/policy.ts';
import {
  type AnyOperation,
  type CoreOperationId,
  type KernelOperationId,
  type KernelOperations,
  operationsOf,
} from '#shared/rest/operations.ts';
import { SEARCH_UNITS_MORE } from '../rows/searches.ts';
import type { ReadJustCreated } from './just-created.ts';

/**
 * The kernel’s operations that this role serves as an item or a list; other forms have routes of their own.
 */
type ReadId = {
  [Id in KernelOperationId]: KernelOperations[Id] extends {
    readonly role: 'query';
    readonly answer: { readonly kind: 'item' | 'list' };
  }
    ? Id
    : never;
}[KernelOperationId];

/** The caller, and the id in the path, not yet parsed. */
export type Reader = {
  readonly caller: Caller;
  readonly id: string;
  /** The key of an item of a list, as it is in the path. */
  readonly item?: string | undefined;
  /** All parameters of the path, in order. */
  readonly path?: readonly string[];
  /** Charges further units to the client’s rate limit; throws if they exceed it. */
  readonly charge: (units: number) => Promise<void>;
};

type ParametersOf<Id extends ReadId> = KernelOperations[Id] extends {
  readonly query: infer Schema extends z.ZodObject;
}
  ? z.output<Schema>
  : Readonly<Record<never, never>>;

/** By default, those of every installation. */
export type Reads<Id extends ReadId = ReadId & CoreOperationId> = {
  readonly [Each in Id]: (reader: Reader, asked: ParametersOf<Each>) => Promise<ReadAnswer>;
};

type AnyRead = (reader: Reader, asked: never) => Promise<ReadAnswer>;
/** Reads by operation id, including those of the domain’s aggregates. */
export type AnyReads = Readonly<Record<string, AnyRead>>;

type Options = {
  readonly domain: Domain;
  readonly before: readonly RequestHandler[];
  readonly readJustCreated: ReadJustCreated;
  /** Gets the reads of aggregates. Parts may serve others in another form. */
  readonly fastRoutes?: FastRoutes | undefined;
};

/** The routes of all reads. `before` runs after admission and before the read. */
export const readRoutes = (
  reads: Reads & AnyReads,
  { domain, before, readJustCreated, fastRoutes }: Options,
): RequestHandler => {
  const table = createRouteTable();
  const operations = operationsOf(domain);
  for (const [id, read] of Object.entries(reads)) {
    const operation: AnyOperation | undefined = operations[id];
    if (operation === undefined) throw new Error(`There is no operation ${id}`);
    // `query` of the operation has parsed these parameters. The compiler cannot see in a loop that they
    // belong to this read.
    const readAny = read as (reader: Reader, asked: unknown) => Promise<ReadAnswer>;
    const route = routeOf(operation);
    const answer: RequestHandler = async (request, response) => {
      const asked = operation.query === undefined ? {} : parametersOf(operation.query, request.query);
      if ('q' in asked && asked.q !== undefined) await takeMore(request, response, SEARCH_UNITS_MORE);
      const charge = (units: number) => takeMore(request, response, units);
      const reader = { caller: callerOf(request), ...idsIn(request), charge };
      const as = { via: 'rest', operation: id, query: { parameters: Object.keys(asked) } } as const;
      const found = await recordedAs(request, as, () =>
        readJustCreated(reader, () => readAny(reader, asked)),
      );
      answerRead(request, response, found);
    };
    const handlers = [demandAdmission(operation), ...before, answer];
    table.routerOf(route).get(route, ...handlers);
    fastRoutes?.add({ method: 'GET', route, handlers, isSlow: operation.of !== 'aggregate' });
  }
  return table.handler;
};

/** A path has at most two ids: of the aggregate, and of one of its items. */
const idsIn = ({ params }: Request): Pick<Reader, 'id' | 'item' | 'path'> => {
  const path = Object.values(params).map(String);
  const [id = '', item] = path;
  return { id, item, path };
};
