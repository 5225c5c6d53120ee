import type { Kind, Row } from '#kernel/registry/registry.ts';
import type { Checks } from './checks.ts';
import { mayReadPart } from './declared.ts';
import { type Caller, type Callers, callersOf } from './rights-callers.ts';
import { type Expecting, expectingOf, type Outcome, scopeIn } from './rights-expected.ts';
import { tryField } from './rights-mutations.ts';
import { seenByGraphql, seenByRest } from './rights-outcomes.ts';
import { askingAs, openSeenRows } from './seen-rows.ts';
import type { Stage } from './stage.ts';
import { fieldValue } from './values.ts';

/** The matrix of callers and users: who sees which fields of whom, and who may register, change and delete. */
export const checkUserRights = async (stage: Stage, checks: Checks): Promise<void> => {
  const { user } = stage.domain.kinds;
  if (user === undefined) return;
  const seenRows = openSeenRows(stage);
  const callers = callersOf(stage);
  const matrix: Matrix = { stage, checks, callers, user, expecting: expectingOf(stage, seenRows) };
  const targets = callers.actors.filter(({ key }) => key.endsWith(' 1'));
  for (const target of targets) {
    await checkReads(matrix, target);
    await checkWrites(matrix, target);
  }
  await checkOwnUser(matrix);
  await checkNewUsers(matrix);
};

type Matrix = {
  readonly stage: Stage;
  readonly checks: Checks;
  readonly callers: Callers;
  readonly user: Kind;
  readonly expecting: Expecting;
};
const stateOf = ({ userId, role, key }: Caller): Row => ({ id: userId, role, name: key });

/** The parts of users that not everybody reads, such as the address. */
const readParts = ({ fieldRights }: Kind) =>
  Object.entries(fieldRights).flatMap(([name, { reads }]) =>
    Array.isArray(reads) ? [{ name, reads: reads as readonly string[] }] : [],
  );
/** Fields that every user of this suite has. */
const GIVEN = ['email', 'createdAt'];

const checkReads = async (
  { stage, checks, callers, user, expecting }: Matrix,
  target: Caller,
): Promise<void> => {
  const state = stateOf(target);
  const scope = scopeIn(user, 'read');
  const parts = readParts(user);
  const selection = `{ ${['id', ...parts.flatMap(({ reads }) => reads)].join(' ')} }`;
  const field = { of: 'query', name: user.field, values: { id: String(target.userId) }, selection } as const;
  const bare = await callers.without(scope);
  for (const caller of [...callers.actors, bare]) {
    const what = `${caller.key} reads ${target.key}`;
    const one = await stage.read(`/users/${target.userId}`, caller);
    checks.equal(seenByRest(one, scope).outcome, expecting.read(caller, { kind: user, state }), what);
    const list = await stage.read<readonly Row[]>('/users?limit=100', caller);
    const listed = list.status === 200 ? list.body.find(({ id }) => id === target.userId) : undefined;
    const found = await tryField(stage, field, caller);
    const asking = askingAs(
      stage,
      openSeenRows(stage),
      caller === bare ? { ...caller, role: 'anonymous', userId: null } : caller,
    );
    for (const { name, reads } of parts) {
      const isShown = mayReadPart(asking, user, name, state);
      for (const row of [one.body, listed, found.data?.tried as Row | undefined])
        for (const each of row ? reads : [])
          if (!isShown || GIVEN.includes(each))
            checks.equal((row?.[each] ?? null) !== null, isShown, `${each} when ${what}`);
    }
  }
};

const checkWrites = async (matrix: Matrix, target: Caller): Promise<void> => {
  const { stage, callers, user } = matrix;
  const path = `/users/${target.userId}`;
  const scope = scopeIn(user, 'update');
  const before = (await stage.read(path, stage.admin)).body;
  const changes = [
    { name: 'update', body: { name: before.name } },
    ...Object.entries(user.fieldRights).flatMap(([name, { writes }]) =>
      (Array.isArray(writes) ? (writes as readonly string[]) : []).map((each) => ({
        name,
        body: { [each]: otherValue(stage, user, each, before[each]) },
      })),
    ),
  ];
  for (const caller of [...callers.actors, await callers.without(scope)]) {
    for (const { name, body } of changes) {
      const wanted = wantedFor(matrix, { caller, target, part: name });
      if (wanted === undefined || (wanted === 'allowed' && name !== 'update')) continue;
      const what = `${name} of ${target.key} by ${caller.key}`;
      const asked = { method: 'PATCH', path, body, caller, scope, wanted, what };
      await checkWrite(matrix, asked, {
        name: 'updateUser',
        values: { id: String(target.userId), changes: body },
      });
      if (name === 'update' && caller.userId !== target.userId && wanted !== 'allowed')
        await checkWrite(matrix, { ...asked, method: 'PUT', body: { ...body, email: before.email } });
    }
    const wanted = wantedFor(matrix, { caller, target, part: 'delete' });
    if (wanted === undefined || wanted === 'allowed') continue;
    const asked = {
      method: 'DELETE',
      path,
      body: undefined,
      caller,
      scope,
      wanted,
      what: `deletion of ${target.key} by ${caller.key}`,
    };
    await checkWrite(matrix, asked, { name: 'deleteUser', values: { id: String(target.userId) } });
  }
};

const otherValue = ({ domain, serial }: Stage, { fields }: Kind, name: string, present: unknown): unknown => {
  if (name === 'role') return 'admin';
  const def = fields[name];
  if (def === undefined || def.kind === 'ref') return null;
  const value = fieldValue(def, serial());
  return value === present ? fieldValue(def, serial() + 1) : (value ?? domain.name);
};

type Asked = { readonly caller: Caller; readonly target: Caller; readonly part: string };
const wantedFor = (
  { stage, user, expecting }: Matrix,
  { caller, target, part }: Asked,
): Outcome | undefined => {
  const state = stateOf(target);
  const isPart = part in user.fieldRights;
  const whole = expecting.write(caller, {
    kind: user,
    name: isPart ? 'update' : part,
    state,
    shown: { kind: user, state },
  });
  if (whole !== 'allowed' || !isPart) return whole;
  const asking = askingAs(stage, openSeenRows(stage), caller);
  return mayReadPart(asking, user, part, state) ? 'allowed' : 'forbidden';
};

type Write = {
  readonly method: string;
  readonly path: string;
  readonly body: Row | undefined;
  readonly caller: Caller;
  readonly scope: string;
  readonly wanted: Outcome | undefined;
  readonly what: string;
};
const checkWrite = async (
  { stage, checks }: Matrix,
  { method, path, body, caller, scope, wanted, what }: Write,
  field?: { readonly name: string; readonly values: Row },
): Promise<void> => {
  const reply = await stage.ask(method, path, { token: caller.token, ...(body && { body }) });
  const { outcome, said } = seenByRest(reply, scope);
  checks.equal(outcome, wanted, `${method} for ${what}: ${said}`);
  if (field === undefined) return;
  const answer = seenByGraphql(await tryField(stage, { of: 'mutation', ...field }, caller), scope);
  checks.equal(answer.outcome, wanted, `${what} by GraphQL: ${answer.said}`);
};

/** The user that a token stands for, and its history. */
const checkOwnUser = async ({ stage, checks, callers, user }: Matrix): Promise<void> => {
  const scope = scopeIn(user, 'readPrivate');
  const wantedFor = ({ token, scopes }: Caller, needed: string): Outcome =>
    token === undefined ? 'unauthenticated' : scopes.has(needed) ? 'allowed' : 'insufficient_scope';
  for (const caller of [...callers.actors, await callers.without(scope)]) {
    const wanted = wantedFor(caller, scope);
    checks.equal(seenByRest(await stage.read('/me', caller), scope).outcome, wanted, `${caller.key} and /me`);
    const { outcome } = seenByGraphql(
      await tryField(stage, { of: 'query', name: 'me', values: {} }, caller),
      scope,
    );
    // Without a token there is no user, which is no refusal.
    checks.equal(
      outcome,
      wanted === 'unauthenticated' ? 'absent' : wanted,
      `${caller.key} and me by GraphQL`,
    );
  }
  for (const caller of [...callers.actors, await callers.without(EVENTS)]) {
    const reply = await stage.read(`/users/${stage.admin.userId}/history`, caller);
    checks.equal(
      seenByRest(reply, EVENTS).outcome,
      wantedFor(caller, EVENTS),
      `the history of users for ${caller.key}`,
    );
  }
};
const EVENTS = 'read:events';

/** Registrations, and deletions of the new users with the scope of users alone. */
const checkNewUsers = async (matrix: Matrix): Promise<void> => {
  const { stage, callers, user, expecting } = matrix;
  const scope = scopeIn(user, 'register');
  const alone = await callers.only(scope);
  for (const caller of [...callers.actors, await callers.without(scope), alone]) {
    const wanted = expecting.write(caller, { kind: user, name: 'register', state: {} });
    const body = { name: 'Nadia', email: null };
    const asked = {
      method: 'POST',
      path: '/users',
      body,
      caller,
      scope,
      wanted,
      what: `registration by ${caller.key}`,
    };
    await checkWrite(
      matrix,
      asked,
      caller === alone ? undefined : { name: 'createUser', values: { input: { name: 'Nadia' } } },
    );
  }
  for (const way of ['REST', 'GraphQL']) {
    const { written } = await stage.session.write('POST', '/users', {
      token: stage.admin.token,
      body: { name: 'Nora' },
    });
    const values = { id: String(written.id) };
    const { outcome, said } =
      way === 'REST'
        ? seenByRest(await stage.ask('DELETE', `/users/${written.id}`, { token: alone.token }), scope)
        : seenByGraphql(await tryField(stage, { of: 'mutation', name: 'deleteUser', values }, alone), scope);
    matrix.checks.equal(outcome, 'allowed', `deletion of a user with ${scope} alone by ${way}: ${said}`);
  }
};
