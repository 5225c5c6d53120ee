import { type Request, type RequestHandler, type Response, Router } from 'express';
import type * as z from 'zod';
import type { FastRoutes } from '#edge/http/fast-routes.ts';
import { readJsonBody } from '#edge/http/json-body.ts';
import { takeMore } from '#edge/http/limit-rate.ts';
import { parseInput } from '#edge/http/parse-input.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { type RestOperation, routeOf } from '#kernel/base/rest/operation.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { CommandGateway, CommandResult } from '#shared/command-gateway/command-gateway.ts';
import type { Command } from '#shared/commands/command.ts';
import { unitsMoreOf } from '#shared/commands/units.ts';
import { type KernelOperations, operationsOf } from '#shared/rest/operations.ts';
import { demandAdmission } from '../admission.ts';
import type { SendItem } from '../reads/answer.ts';
import { answerWritten } from './answer.ts';
import { contextOf } from './context.ts';
import { type ItemOf, itemOf } from './item.ts';
import { preferenceOf } from './preference.ts';

export type WriteDependencies = {
  readonly domain: Domain;
  readonly gateway: CommandGateway;
  readonly bodyBytesMax: number;
  readonly requireIfMatch: boolean;
  /** Present in a process with the read model; without it, `Prefer: return=representation` has no effect. */
  readonly readWritten?: ReadWritten;
  readonly fastRoutes?: FastRoutes | undefined;
};

/**
 * Reads the written item for the same caller, once it can be read; undefined if it cannot. It never fails,
 * because the write is done.
 */
export type ReadWritten = (
  request: Request,
  response: Response,
  written: WrittenItem,
) => Promise<SendItem | undefined>;
type WrittenItem = {
  /** The operation that reads it. */
  readonly item: string;
  readonly result: CommandResult;
  /** The key of a list item. */
  readonly itemId?: unknown;
};

/** The operations of the kernel that send one command each. */
type WriteId = {
  [Id in keyof KernelOperations]: KernelOperations[Id]['method'] extends 'GET' ? never : Id;
}[keyof KernelOperations];

type BodyOf<Id extends WriteId> = KernelOperations[Id] extends {
  readonly body: infer Bodies extends Readonly<Record<string, z.ZodType>>;
}
  ? z.output<Bodies[keyof Bodies]>
  : undefined;

/** The command of each operation. */
type Writes<Id extends WriteId = WriteId> = {
  readonly [Each in Id]: (item: ItemOf<KernelOperations[Each]['path']>, body: BodyOf<Each>) => Command;
};

/** The routes of the writes to one kind of item, under `collection`. */
export const writeRoutes = (
  dependencies: WriteDependencies,
  collection: string,
  writes: Partial<Writes>,
): Router => {
  const router = Router();
  const operations = operationsOf(dependencies.domain);
  for (const [id, toCommand] of Object.entries(writes)) {
    const operation = operations[id];
    if (operation === undefined) throw new Error(`There is no operation ${id}`);
    // Each takes the bodies that the schema of its own operation accepts, which the compiler cannot see in a
    // loop.
    const write = {
      operation,
      collection,
      toCommand: toCommand as Write['toCommand'],
    };
    mountWrite(router, dependencies, write);
  }
  return router;
};

export const mountWrite = (router: Router, dependencies: WriteDependencies, write: Write): void => {
  const { operation } = write;
  const path = routeOf(operation);
  const route = router.route(path);
  const steps = stepsOf(dependencies, write);
  dependencies.fastRoutes?.add({ method: operation.method, route: path, handlers: steps });
  switch (operation.method) {
    case 'POST':
      return void route.post(...steps);
    case 'PUT':
      return void route.put(...steps);
    case 'PATCH':
      return void route.patch(...steps);
    case 'DELETE':
      return void route.delete(...steps);
    case 'GET':
      throw new Error(`${operation.path} is only read`);
  }
};

export type Write = {
  readonly operation: RestOperation;
  readonly collection: string;
  readonly toCommand: (item: object, body: unknown) => Command;
  /** For the items of a list: their path below the aggregate, and the name of their key. */
  readonly items?: { readonly path: string; readonly id: string };
};

const stepsOf = (
  dependencies: WriteDependencies,
  { operation, collection, toCommand, items }: Write,
): readonly RequestHandler[] => {
  const { gateway, bodyBytesMax, requireIfMatch, readWritten } = dependencies;
  const read = operation.answer.item;
  const readAnyBody =
    operation.body === undefined ? [] : readJsonBody(bodyBytesMax, Object.keys(operation.body));
  const readBody = operation.isBodyOptional ? readAnyBody.map(unlessEmpty) : readAnyBody;
  const handle = async (request: Request, response: Response): Promise<void> => {
    const item = itemOf(operation, request);
    const context = contextOf(request, operation, { requireIfMatch });
    const command = toCommand(item, bodyOf(request, operation));
    const unitsMore = unitsMoreOf(command, context.caller);
    if (unitsMore > 0) await takeMore(request, response, unitsMore);
    const result = await gateway.send(command, context).catch(throwFieldErrors);
    const itemId = items && (result.itemId ?? (command as Readonly<Record<string, unknown>>)[items.id]);
    const prefersItem = preferenceOf(request, operation.answer) === 'representation';
    const sendItem =
      prefersItem && read !== undefined
        ? await readWritten?.(request, response, { item: read, result, itemId })
        : undefined;
    const self = `${collection}/${result.id}`;
    if (items === undefined)
      return answerWritten(request, response, { operation, result, item, self, sendItem });
    const ofItem = { name: items.id, itemId };
    const path = `${self}/${items.path}/${encodeURIComponent(String(itemId))}`;
    answerWritten(request, response, { operation, result, item, self: path, ofItem, sendItem });
  };
  return [demandAdmission(operation), ...readBody, handle];
};

/** Clients send a length for an empty body, too. */
const unlessEmpty =
  (read: RequestHandler): RequestHandler =>
  (request, response, next) => {
    const {
      'content-length': length = '0',
      'transfer-encoding': transfer,
      'content-type': type,
    } = request.headers;
    const isEmpty = length === '0' && transfer === undefined && type === undefined;
    return isEmpty ? next() : read(request, response, next);
  };

/** The body by the schema of its media type; operations without one ignore the body. */
const bodyOf = (request: Request, { body: schemas, isBodyOptional }: RestOperation): unknown => {
  if (schemas === undefined) return undefined;
  const types = Object.keys(schemas);
  if (isBodyOptional && request.body === undefined)
    return parseInput(schemas[types[0] ?? ''] as z.ZodType, {});
  const type = request.is(types);
  if (typeof type !== 'string' || request.body === undefined)
    throw new HttpProblem('malformed_body', { detail: 'There is no body.' });
  const schema = schemas[type];
  return schema === undefined ? undefined : parseInput(schema, request.body);
};

/** Reports invalid fields of a command like those of any other body. */
const throwFieldErrors = (error: unknown): never => {
  const errors = error instanceof Rejection && error.code === 'invalid_command' ? fieldsIn(error) : undefined;
  if (errors === undefined) throw error;
  const ofForm = errors.map((each) => ({ ...each, pointer: each.pointer.replace(FORM, '/') }));
  throw new HttpProblem('invalid_request', { extensions: { errors: ofForm }, cause: error });
};

/** The same for mutations, if all errors are about the form; any other keeps the code of the command. */
export const throwFormErrors = (error: unknown): never => {
  const errors = error instanceof Rejection ? fieldsIn(error) : undefined;
  if (errors?.every(({ pointer }) => FORM.test(pointer))) return throwFieldErrors(error);
  throw error;
};

/** The prefix of the command within the message to its role. */
const FORM = /^\/command\//;

const fieldsIn = ({ details }: Rejection) =>
  details.errors as readonly { readonly pointer: string }[] | undefined;
