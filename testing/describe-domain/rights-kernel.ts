import { getNamedType } from 'graphql';
import { isOfLog } from '#kernel/base/rest/operation.ts';
import { uploadFieldsOf } from '#kernel/decide/upload-fields.ts';
import { mutatingCommands, mutationName, uploadMutations } from '#kernel/registry/mutations.ts';
import type { Domain, Row } from '#kernel/registry/registry.ts';
import { operationsOf } from '#shared/rest/operations.ts';
import { aggregateName, listsOf } from '../../query/graphql/rules/names.ts';
import { schemaOf } from '../../query/graphql/schema/schema.ts';
import { until } from '../until.ts';
import { isOfInterest } from './actors-of-interest.ts';
import type { Checks } from './checks.ts';
import { type Caller, callersOf } from './rights-callers.ts';
import { type Matrix, WAYS, type Way } from './rights-cells.ts';
import type { Outcome } from './rights-expected.ts';
import { absentIds, type KernelRights, kernelRights, NEW_WEBHOOK } from './rights-kernel-table.ts';
import { type RootField, tryField } from './rights-mutations.ts';
import { type Seen, seenByGraphql, seenByRest } from './rights-outcomes.ts';
import type { Actor, Stage } from './stage.ts';

/** The matrix of callers and the kernel’s own operations, with a webhook, its deliveries and its replays. */
export const checkKernelRights = async (stage: Stage, checks: Checks): Promise<void> => {
  const matrix = { stage, checks, callers: callersOf(stage) };
  const { written: another } = await stage.session.write('POST', '/users', {
    token: stage.admin.token,
    body: { name: 'Nora' },
  });
  const rights = kernelRights(stage.domain, another.id);
  checkWholeness(matrix, rights);
  const owner = matrix.callers.actors.find(({ key }) => key.endsWith(' 1'));
  if (owner === undefined) throw new Error(`${stage.domain.name} has no roles`);
  const hook = await makeWebhook(stage, owner);
  const actors = matrix.callers.actors.filter((caller) => isOfInterest({ owner }, caller));
  // Changes of a webhook get one of their own below.
  for (const row of rights)
    for (const caller of [...actors, ...(await lacking(matrix, row))])
      if (row.needs !== 'ownership' || wantedOf(row, caller, owner) !== 'allowed')
        for (const way of WAYS) await checkRow(matrix, row, { caller, owner, hook, way });
  await checkListed(matrix, hook, owner);
  const version = await versionOf(stage, hook.path);
  checks.equal(version, hook.version, 'the version of a webhook after refused writes');
  for (const row of rights.filter(({ needs }) => needs === 'ownership'))
    for (const caller of [owner, await matrix.callers.only(row.scope, OWNING)])
      for (const way of WAYS)
        if (triedIn(row, way).length > 0)
          await checkRow(matrix, row, { caller, owner, hook: await makeWebhook(stage, owner), way });
};

const lacking = async ({ callers }: Matrix, { scope, needs }: KernelRights): Promise<readonly Caller[]> =>
  Promise.all([
    ...(scope === '' ? [] : [callers.without(scope)]),
    ...(needs === 'ownership' && scope !== OWNING ? [callers.without(OWNING)] : []),
  ]);
/** The scope without which there are no webhooks. */
const OWNING = 'manage:webhooks';

const wantedOf = ({ needs, scope, isAbsent }: KernelRights, caller: Caller, owner: Actor): Outcome => {
  if (needs === 'nothing') return 'allowed';
  if (caller.token === undefined) return 'unauthenticated';
  if (!caller.scopes.has(scope)) return 'insufficient_scope';
  const isAdministrator = caller.role === 'admin';
  if (needs === 'administrator' && !isAdministrator) return 'forbidden';
  if (needs === 'ownership' && !caller.scopes.has(OWNING)) return 'absent';
  if (needs === 'ownership' && !isAdministrator && caller.userId !== owner.userId) return 'absent';
  return isAbsent ? 'absent' : 'allowed';
};

const triedIn = ({ rest, graphql }: KernelRights, way: Way) =>
  Object.entries(way === 'REST' ? rest : graphql);

type Hook = { readonly path: string; readonly version: string | undefined; readonly ids: Row };
type Trying = {
  readonly caller: Caller;
  readonly owner: Actor;
  readonly hook: Hook;
  readonly way: Way;
};
const checkRow = async (matrix: Matrix, row: KernelRights, trying: Trying): Promise<void> => {
  const { caller, owner, hook, way } = trying;
  const wanted = wantedOf(row, caller, owner);
  const ids: Row = { ...hook.ids, ...absentIds(), userId: owner.userId, ...row.ids };
  for (const [name, given] of triedIn(row, way)) {
    const { outcome, said } = await TRIED[way](matrix.stage, { name, given, ids, caller, scope: row.scope });
    matrix.checks.equal(outcome, wanted, `${name} by ${caller.key} by ${way}: ${said}`);
  }
};

/** Lists contain the webhook and its deliveries for its owner and administrators alone. */
const checkListed = async (
  { stage, checks, callers }: Matrix,
  { ids }: Hook,
  owner: Actor,
): Promise<void> => {
  const id = String(ids.webhookId);
  const field = { of: 'query', name: 'webhooks', values: { limit: LISTED }, selection: '{ id }' } as const;
  for (const caller of callers.actors.filter(({ token }) => token !== undefined)) {
    const isTheirs = caller.role === 'admin' || caller.userId === owner.userId;
    const { body } = await stage.read<readonly Row[]>(`/webhooks?limit=${LISTED}`, caller);
    const { body: found } = await stage.read<readonly Row[]>(`/deliveries?limit=${LISTED}`, caller);
    const { data } = await tryField(stage, field, caller);
    const node = await tryField(stage, { of: 'query', name: 'node', values: { id } }, caller);
    const listed = {
      REST: body.some((each) => String(each.id) === id),
      GraphQL: ((data?.tried ?? []) as readonly Row[]).some((each) => each.id === id),
      node: node.data?.tried != null,
      deliveries: found.some((each) => each.id === ids.deliveryId),
    };
    const wanted = { REST: isTheirs, GraphQL: isTheirs, node: isTheirs, deliveries: isTheirs };
    checks.equal(listed, wanted, `the webhooks and deliveries of ${owner.key} for ${caller.key}`);
  }
};
/** The latest come first. */
const LISTED = 50;

type Try = {
  readonly name: string;
  readonly given: Row | undefined;
  readonly ids: Row;
  readonly caller: Caller;
  readonly scope: string;
};
const TRIED: Readonly<Record<Way, (stage: Stage, asked: Try) => Promise<Seen>>> = {
  async REST({ domain, ask }, { name, given, ids, caller, scope }) {
    const operation = operationsOf(domain)[name];
    if (operation === undefined) throw new RangeError(`there is no operation ${name}`);
    const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, id: string) => String(ids[id]));
    const reply = await ask(operation.method, path, { token: caller.token, ...(given && { body: given }) });
    return seenByRest(reply, scope);
  },
  async GraphQL(stage, { name, given, ids, caller, scope }) {
    const of = schemaOf(stage.domain).getQueryType()?.getFields()[name] ? 'query' : 'mutation';
    const field: RootField = { of, name, values: { id: String(ids.webhookId), ...ids, ...given } };
    return seenByGraphql(await tryField(stage, field, caller), scope);
  },
};

/** With a delivery and a replay. */
const makeWebhook = async (stage: Stage, { token }: Actor): Promise<Hook> => {
  const { session, ask } = stage;
  const { written } = await session.write('POST', '/webhooks', { token, body: NEW_WEBHOOK });
  const path = `/webhooks/${written.id}`;
  await session.write('POST', `${path}/test`, { token });
  await session.write('POST', `${path}/replay`, {
    token,
    body: { from: new Date().toISOString() },
  });
  const firstOf = async (of: string): Promise<unknown> => {
    const found = async () => (await ask('GET', `${path}/${of}`, { token })).body as readonly Row[];
    return (await until(found, ({ length }) => length > 0))[0]?.id;
  };
  const ids = {
    webhookId: written.id,
    deliveryId: await firstOf('deliveries'),
    replayId: await firstOf('replays'),
  };
  return { path, version: await versionOf(stage, path), ids };
};

const versionOf = async ({ read, admin }: Stage, path: string): Promise<string | undefined> =>
  /^"(\d+)-/.exec((await read(path, admin)).headers.get('etag') ?? '')?.[1];

/** Reads of users, which every domain declares. */
const OF_USERS = ['listUsers', 'getUser', 'getMe', 'listUserHistory'];
/** Fields that lead to aggregates of every kind. */
const OF_ALL = ['node', '_entities', 'me'];

/** No operation and no root field is missing from the matrix. */
const checkWholeness = ({ stage: { domain }, checks }: Matrix, rights: readonly KernelRights[]): void => {
  const written = (of: 'rest' | 'graphql') => [...new Set(rights.flatMap((row) => Object.keys(row[of])))];
  const operations = Object.entries(operationsOf(domain)).flatMap(([id, operation]) =>
    isOfLog(operation) && operation.of === 'kernel' ? [id] : [],
  );
  checks.equal(operations.toSorted(), [...written('rest'), ...OF_USERS].toSorted(), 'the operations of REST');
  const schema = schemaOf(domain);
  const declared = new Set([...OF_ALL, ...declaredFields(domain)]);
  const views = new Set(domain.views.flatMap(({ type }) => [type, `${type}Connection`]));
  const fields = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
    Object.values(type?.getFields() ?? {})
      .filter((field) => !declared.has(field.name) && !views.has(getNamedType(field.type).name))
      .map(({ name }) => name),
  );
  checks.equal(fields.toSorted(), written('graphql').toSorted(), 'the root fields of GraphQL');
};

const declaredFields = ({ kinds }: Domain): readonly string[] =>
  Object.values(kinds).flatMap((kind) => [
    ...[kind.field, listsOf(kind), `${listsOf(kind)}Connection`, aggregateName(kind)],
    ...mutatingCommands(kind).map((command) => mutationName(kind, command)),
    ...uploadFieldsOf(kind).flatMap((field) => Object.values(uploadMutations(kind, field))),
  ]);
