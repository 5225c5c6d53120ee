import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StreamName, UserId, Version } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { sameAddress } from '#kernel/base/same-address.ts';
import { fold } from '../../test/given.ts';
import { type UserCommand, user } from '../../test/users.ts';
import type { Decider } from '../decider.ts';
import { emailClaim, emailStream } from '../users/email-claim.ts';
import { profileOf, userStream } from '../users/user.ts';
import type { ClaimCommand } from './claim.ts';
import { claimName } from './claims.ts';

/**
 * A model of the claim protocol: every writer pauses at each read and each append, writers interleave in any
 * order, and some never resume. An address must never have more users than its limit, here one or two, and no
 * unused claim may block a place.
 */
type Log = Map<StreamName, readonly unknown[]>;
type Writer = Generator<void, void>;
const ATTEMPTS_MAX = 4;
const STEPS_MAX = 60;
const RUNS = 3_000;
const at = '2026-01-02T03:04:05.678Z';

const load = <State, Command, Event>(
  log: Log,
  decider: Decider<State, Command, Event>,
  stream: StreamName,
) => {
  // A stream contains only events of its decider.
  const events = (log.get(stream) ?? []) as readonly Event[];
  return { state: fold(decider, events), version: events.length as Version };
};

/** Returns whether the stream still had the expected version. */
const append = (log: Log, stream: StreamName, expected: Version, events: readonly unknown[]): boolean => {
  const present = log.get(stream) ?? [];
  if (present.length !== expected) return false;
  log.set(stream, [...present, ...events]);
  return true;
};

type Shared = { readonly log: Log; readonly max: number };

function* changeClaim({ log, max }: Shared, address: string, command: ClaimCommand): Writer {
  const stream = emailStream(sameAddress(address));
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const { state, version } = load(log, emailClaim, stream);
    yield;
    const others = Object.keys(state.holders).filter((id) => Number(id) !== command.id);
    if (command.type === 'Claim' && others.length >= max) throw new Rejection('email_taken');
    if (append(log, stream, version, emailClaim.decide(command, state))) return;
  }
  throw new Rejection('conflict');
}

function* changeUser(shared: Shared, command: UserCommand): Writer {
  const { log } = shared;
  const { userId } = command;
  const stream = userStream(userId);
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const { state, version } = load(log, user, stream);
    yield;
    const events = user.decide(command, state);
    const before = profileOf(state)?.email ?? null;
    const email = command.type === 'DeleteUser' || !('email' in command) ? undefined : command.email;
    if (typeof email === 'string')
      yield* changeClaim(shared, email, { type: 'Claim', id: userId, version, at });
    yield;
    if (!append(log, stream, version, events)) continue;
    yield;
    const isDropped =
      before !== null &&
      (command.type === 'DeleteUser' ||
        (email !== undefined && (email === null || sameAddress(email) !== sameAddress(before))));
    if (isDropped)
      yield* changeClaim(shared, before, {
        type: 'Release',
        id: userId,
        version: (version + events.length) as Version,
      });
    return;
  }
}

function* sweep(shared: Shared, address: string): Writer {
  const { holders } = load(shared.log, emailClaim, emailStream(sameAddress(address))).state;
  yield;
  for (const [id, { version }] of Object.entries(holders))
    yield* free(shared, address, { userId: Number(id) as UserId, claimed: version });
}

function* free(
  shared: Shared,
  address: string,
  { userId, claimed }: { readonly userId: UserId; readonly claimed: Version },
): Writer {
  const { log } = shared;
  const { state, version } = load(log, user, userStream(userId));
  if (holds(state, address)) return;
  yield;
  if (version > claimed) return yield* changeClaim(shared, address, { type: 'Release', id: userId, version });
  const fence = user.decide(
    { type: 'AbandonEmail', userId, claim: claimName(emailStream(sameAddress(address)), claimed) },
    state,
  );
  if (!append(log, userStream(userId), version, fence)) return;
  yield;
  yield* changeClaim(shared, address, {
    type: 'Release',
    id: userId,
    version: (version + fence.length) as Version,
  });
}

const holds = (state: typeof user.initial, address: string): boolean => {
  const email = profileOf(state)?.email ?? null;
  return email !== null && sameAddress(email) === sameAddress(address);
};

const USERS = [1, 2, 3] as UserId[];
const ADDRESSES = ['a@example.com', 'A@example.com'];

const holdersOf = (log: Log, address: string) =>
  USERS.filter((userId) => holds(load(log, user, userStream(userId)).state, address));

const expectRoom = ({ log, max }: Shared) => {
  for (const address of ADDRESSES) expect(holdersOf(log, address).length).toBeLessThanOrEqual(max);
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
const register = fc.record({
  type: fc.constant('RegisterUser'),
  userId,
  name: fc.constant('N'),
  email,
  role: fc.constant('reader'),
});
const update = fc.record({ type: fc.constant('UpdateUser'), userId, email });
const remove = fc.record({ type: fc.constant('DeleteUser'), userId });
const clean = fc.record({ type: fc.constant('Sweep'), address: fc.constantFrom(...ADDRESSES) });
const task = fc.oneof<
  fc.WeightedArbitrary<UserCommand | { readonly type: 'Sweep'; readonly address: string }>[]
>(
  { arbitrary: register, weight: 2 },
  { arbitrary: update, weight: 4 },
  { arbitrary: remove, weight: 1 },
  { arbitrary: clean, weight: 2 },
);
/** The next writer and its number of steps: few switches to make progress, enough for races. */
const turn = fc.record({ index: fc.nat(), steps: fc.integer({ min: 1, max: 8 }) });

test.each([1, 2])(
  'an address with a limit of %i never has more users, and no claim outlives its use',
  (max) => {
    fc.assert(
      fc.property(
        fc.array(task, { minLength: 3, maxLength: 8 }),
        fc.array(turn, { minLength: 8, maxLength: 40 }),
        (tasks, turns) => {
          const shared = { log: new Map() as Log, max };
          const { log } = shared;
          const writers = tasks.map((each) =>
            each.type === 'Sweep' ? sweep(shared, each.address) : changeUser(shared, each),
          );
          for (const { index, steps } of turns) {
            const writer = writers[index % writers.length];
            for (let step = 0; writer && step < steps; step += 1) advance(writer);
            expectRoom(shared);
          }
          for (const address of ADDRESSES) {
            for (const _ of sweep(shared, address));
            const { holders } = load(log, emailClaim, emailStream(sameAddress(address))).state;
            expect(Object.keys(holders).map(Number)).toEqual(holdersOf(log, address));
          }
          for (const writer of writers) for (let step = 0; step < STEPS_MAX; step += 1) advance(writer);
          expectRoom(shared);
        },
      ),
      { numRuns: RUNS },
    );
  },
);
