import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StreamName, UserId, Version } from '#shared/brands.ts';
import { Rejection } from '#shared/rejection.ts';
import { sameAddress } from '#shared/same-address.ts';
import { fold } from '../../test/given.ts';
import { type UserCommand, user } from '../../test/users.ts';
import type { Decider } from '../decider.ts';
import { claimName, type EmailClaimCommand, emailClaim, emailStream } from './email-claim.ts';
import { profileOf, userStream } from './user.ts';

/**
 * The protocol of claims as a model: every writer stops at each read and each append, writers take turns in any order,
 * and some never come back. Whatever happens, two users never have one address, and no address stays claimed in vain.
 */
type Log = Map<StreamName, readonly unknown[]>;
type Writer = Generator<void, void>;
const ATTEMPTS_MAX = 4;
const STEPS_MAX = 60;
const RUNS = 6_000;
const at = '2026-01-02T03:04:05.678Z';

const load = <State, Command, Event>(log: Log, decider: Decider<State, Command, Event>, stream: StreamName) => {
  // A stream holds only what its decider decided.
  const events = (log.get(stream) ?? []) as readonly Event[];
  return { state: fold(decider, events), version: events.length as Version };
};

/** Answers whether the stream still was at the version. */
const append = (log: Log, stream: StreamName, expected: Version, events: readonly unknown[]): boolean => {
  const present = log.get(stream) ?? [];
  if (present.length !== expected) return false;
  log.set(stream, [...present, ...events]);
  return true;
};

function* changeClaim(log: Log, address: string, command: EmailClaimCommand): Writer {
  const stream = emailStream(sameAddress(address));
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const { state, version } = load(log, emailClaim, stream);
    yield;
    if (append(log, stream, version, emailClaim.decide(command, state))) return;
  }
  throw new Rejection('conflict');
}

function* changeUser(log: Log, command: UserCommand): Writer {
  const { userId } = command;
  const stream = userStream(userId);
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const { state, version } = load(log, user, stream);
    yield;
    const events = user.decide(command, state);
    const before = profileOf(state)?.email ?? null;
    const email = command.type === 'DeleteUser' || !('email' in command) ? undefined : command.email;
    if (typeof email === 'string') yield* changeClaim(log, email, { type: 'ClaimEmail', userId, userVersion: version, at });
    yield;
    if (!append(log, stream, version, events)) continue;
    yield;
    const isDropped =
      before !== null &&
      (command.type === 'DeleteUser' || (email !== undefined && (email === null || sameAddress(email) !== sameAddress(before))));
    if (isDropped) yield* changeClaim(log, before, { type: 'ReleaseEmail', userId, userVersion: (version + events.length) as Version });
    return;
  }
}

function* sweep(log: Log, address: string): Writer {
  const { state: claim } = load(log, emailClaim, emailStream(sameAddress(address)));
  yield;
  if (claim.status === 'free') return;
  const { userId, userVersion } = claim;
  const { state, version } = load(log, user, userStream(userId));
  if (holds(state, address)) return;
  yield;
  if (version > userVersion) return yield* changeClaim(log, address, { type: 'ReleaseEmail', userId, userVersion: version });
  const fence = user.decide({ type: 'AbandonEmail', userId, claim: claimName(emailStream(sameAddress(address)), userVersion) }, state);
  if (!append(log, userStream(userId), version, fence)) return;
  yield;
  yield* changeClaim(log, address, { type: 'ReleaseEmail', userId, userVersion: (version + fence.length) as Version });
}

const holds = (state: typeof user.initial, address: string): boolean => {
  const email = profileOf(state)?.email ?? null;
  return email !== null && sameAddress(email) === sameAddress(address);
};

const USERS = [1, 2] as UserId[];
const ADDRESSES = ['a@example.com', 'A@example.com'];

const holdersOf = (log: Log, address: string) => USERS.filter((userId) => holds(load(log, user, userStream(userId)).state, address));

const expectOneHolder = (log: Log) => {
  for (const address of ADDRESSES) expect(holdersOf(log, address).length).toBeLessThan(2);
};

const advance = (writer: Writer): void => {
  try {
    writer.next();
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
  }
};

const userId = fc.constantFrom(...USERS);
const email = fc.option(fc.constantFrom(...ADDRESSES), { freq: 2 });
const register = fc.record({ type: fc.constant('RegisterUser'), userId, name: fc.constant('N'), email, role: fc.constant('reader') });
const update = fc.record({ type: fc.constant('UpdateUser'), userId, email });
const remove = fc.record({ type: fc.constant('DeleteUser'), userId });
const clean = fc.record({ type: fc.constant('Sweep'), address: fc.constantFrom(...ADDRESSES) });
const task = fc.oneof<fc.WeightedArbitrary<UserCommand | { readonly type: 'Sweep'; readonly address: string }>[]>(
  { arbitrary: register, weight: 2 },
  { arbitrary: update, weight: 4 },
  { arbitrary: remove, weight: 1 },
  { arbitrary: clean, weight: 2 },
);
/** Which writer goes on, and for how many steps: seldom enough to come far, often enough to be overtaken. */
const turn = fc.record({ index: fc.nat(), steps: fc.integer({ min: 1, max: 8 }) });

test('two users never have one address, and no claim outlives its use', () => {
  fc.assert(
    fc.property(fc.array(task, { minLength: 3, maxLength: 8 }), fc.array(turn, { minLength: 8, maxLength: 40 }), (tasks, turns) => {
      const log: Log = new Map();
      const writers = tasks.map((each) => (each.type === 'Sweep' ? sweep(log, each.address) : changeUser(log, each)));
      for (const { index, steps } of turns) {
        const writer = writers[index % writers.length];
        for (let step = 0; writer && step < steps; step += 1) advance(writer);
        expectOneHolder(log);
      }
      for (const address of ADDRESSES) {
        for (const _ of sweep(log, address));
        const { state } = load(log, emailClaim, emailStream(sameAddress(address)));
        expect(state.status === 'claimed' ? [state.userId] : []).toEqual(holdersOf(log, address));
      }
      for (const writer of writers) for (let step = 0; step < STEPS_MAX; step += 1) advance(writer);
      expectOneHolder(log);
    }),
    { numRuns: RUNS },
  );
});
