import { wire } from '#kernel/base/names.ts';
import type { Kind, Row } from '#kernel/registry/registry.ts';
import { isOfInterest } from './actors-of-interest.ts';
import type { Checks } from './checks.ts';
import { mayReadPart } from './declared.ts';
import type { Caller, Callers } from './rights-callers.ts';
import { type Expecting, type Outcome, scopeIn } from './rights-expected.ts';
import { tryField } from './rights-mutations.ts';
import { seenByGraphql, seenByRest } from './rights-outcomes.ts';
import { askingAs, openSeenRows } from './seen-rows.ts';
import type { Stage } from './stage.ts';
import { fieldValue } from './values.ts';

export type UserMatrix = {
  readonly stage: Stage;
  readonly checks: Checks;
  readonly callers: Callers;
  readonly user: Kind;
  readonly expecting: Expecting;
};
export const stateOf = ({ userId, role, key }: Caller): Row => ({ id: userId, role, name: key });

/** Every refused change and deletion of a user, and the change to the present name. */
export const checkUserWrites = async (matrix: UserMatrix, target: Caller): Promise<void> => {
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
  const actors = callers.actors.filter((caller) => isOfInterest({ owner: target }, caller));
  for (const caller of [...actors, await callers.without(scope)]) {
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
        await checkWrite(matrix, { ...asked, method: 'PUT', body: replacementOf(user, before) });
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

/** All fields but the role. */
const replacementOf = ({ fields }: Kind, before: Row): Row =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, def]) =>
      name === 'role' ? [] : [[wire(name, def), before[name] ?? null] as const],
    ),
  );

const otherValue = ({ domain, serial }: Stage, { fields }: Kind, name: string, present: unknown): unknown => {
  if (name === 'role') return 'admin';
  const def = fields[name];
  if (def === undefined || def.kind === 'ref') return null;
  const value = fieldValue(def, serial());
  return value === present ? fieldValue(def, serial() + 1) : (value ?? domain.name);
};

type Asked = { readonly caller: Caller; readonly target: Caller; readonly part: string };
const wantedFor = (
  { stage, user, expecting }: UserMatrix,
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
  { stage, checks }: UserMatrix,
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

/** Registrations, and deletions of the new users with the scope of users alone. */
export const checkNewUsers = async (matrix: UserMatrix): Promise<void> => {
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
