import type { Kind, Row } from '#kernel/registry/registry.ts';
import { isOfInterest } from './actors-of-interest.ts';
import type { Checks } from './checks.ts';
import { mayEver, mayReadPart } from './declared.ts';
import { type Caller, callersOf } from './rights-callers.ts';
import { expectingOf, type Outcome, scopeIn } from './rights-expected.ts';
import { tryField } from './rights-mutations.ts';
import { seenByGraphql, seenByRest } from './rights-outcomes.ts';
import { checkNewUsers, checkUserWrites, stateOf, type UserMatrix } from './rights-user-writes.ts';
import { askingAs, openSeenRows } from './seen-rows.ts';
import type { Stage } from './stage.ts';

/** The matrix of callers and users: who sees which fields of whom, and who may register, change and delete. */
export const checkUserRights = async (stage: Stage, checks: Checks): Promise<void> => {
  const { user } = stage.domain.kinds;
  if (user === undefined) return;
  const seenRows = openSeenRows(stage);
  const callers = callersOf(stage);
  const matrix: UserMatrix = { stage, checks, callers, user, expecting: expectingOf(stage, seenRows) };
  const targets = callers.actors.filter(({ key }) => key.endsWith(' 1'));
  for (const target of targets) {
    await checkReads(matrix, target);
    await checkUserWrites(matrix, target);
  }
  await checkOwnUser(matrix);
  await checkNewUsers(matrix);
};

/** The parts of users that not everybody reads, such as the address. */
const readParts = ({ fieldRights }: Kind) =>
  Object.entries(fieldRights).flatMap(([name, { reads }]) =>
    Array.isArray(reads) ? [{ name, reads: reads as readonly string[] }] : [],
  );
/** Fields that every user of this suite has. */
const GIVEN = ['email', 'createdAt'];

const checkReads = async (
  { stage, checks, callers, user, expecting }: UserMatrix,
  target: Caller,
): Promise<void> => {
  const state = stateOf(target);
  const scope = scopeIn(user, 'read');
  const parts = readParts(user);
  const selection = `{ ${['id', ...parts.flatMap(({ reads }) => reads)].join(' ')} }`;
  const field = { of: 'query', name: user.field, values: { id: String(target.userId) }, selection } as const;
  const bare = await callers.without(scope);
  const actors = callers.actors.filter((caller) => isOfInterest({ owner: target }, caller));
  for (const caller of [...actors, bare]) {
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

/** The user that a token stands for, and its history. */
const checkOwnUser = async ({ stage, checks, callers, user, expecting }: UserMatrix): Promise<void> => {
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
    // Without a token there is no user, which is no refusal where everybody may read users.
    const isAbsent = wanted === 'unauthenticated' && mayEver(stage.domain, user, 'read', 'anonymous');
    checks.equal(outcome, isAbsent ? 'absent' : wanted, `${caller.key} and me by GraphQL`);
  }
  for (const caller of [...callers.actors, await callers.without(EVENTS)]) {
    const reply = await stage.read(`/users/${stage.admin.userId}/history`, caller);
    const admitted = wantedFor(caller, EVENTS);
    const state = { id: stage.admin.userId, role: stage.admin.role };
    checks.equal(
      seenByRest(reply, EVENTS).outcome,
      admitted === 'allowed' ? expecting.read(caller, { kind: user, state }) : admitted,
      `the history of users for ${caller.key}`,
    );
  }
};
const EVENTS = 'read:events';
