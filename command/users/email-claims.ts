import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Domain } from '#kernel/registry/registry.ts';
import type { StreamName, UserId, Version } from '#shared/brands.ts';
import type { MetadataContext } from '#shared/events/metadata.ts';
import { Rejection } from '#shared/rejection.ts';
import { sameAddress } from '#shared/same-address.ts';
import type { Known } from '../states.ts';
import { type AppendDependencies, tryAppend } from '../try-append.ts';
import { claimName, type EmailClaimState, emailClaim, emailStream } from './email-claim.ts';
import { abandonEmail, profileOf, userStream, usersOf } from './user.ts';

/** Keeps e-mail addresses unique. A claim that was never used is released when somebody else wants the address. */
export type EmailClaims = {
  /** Claims an address for a user whose stream is at `userVersion`, or refuses with `email_taken`. */
  claim(wanted: Wanted, metadata: MetadataContext): Promise<void>;
};

type Wanted = { readonly email: string; readonly userId: UserId; readonly userVersion: Version };
type Claimed = Extract<EmailClaimState, { status: 'claimed' }>;

/** How long the use of a claim may take before somebody else fences it off. */
const USE_MAX_MS = 2_000;
const LOOK_AGAIN_MS = 50;
const PATIENCE_MS = 8_000;

type Dependencies = AppendDependencies & { readonly domain: Domain };

export const createEmailClaims = (dependencies: Dependencies & { readonly hashKey: Buffer }): EmailClaims => ({
  async claim(wanted, metadata) {
    const address = sameAddress(wanted.email);
    const stream = emailStream(createHmac('sha256', dependencies.hashKey).update(address).digest('base64url'));
    const expiresAtMs = performance.now() + PATIENCE_MS;
    while (performance.now() < expiresAtMs) {
      const known = await dependencies.states.load(emailClaim, stream);
      if (known.state.status === 'claimed' && known.state.userId !== wanted.userId) {
        await free(dependencies, { stream, known, claimed: known.state, address }, metadata);
      } else if (await claim(dependencies, { stream, known, wanted }, metadata)) return;
    }
    throw new Rejection('conflict');
  },
});

const claim = (
  dependencies: AppendDependencies,
  { stream, known, wanted }: { stream: StreamName; known: Known<EmailClaimState>; wanted: Wanted },
  metadata: MetadataContext,
): Promise<boolean> => {
  const { userId, userVersion } = wanted;
  const decided = emailClaim.decide({ type: 'ClaimEmail', userId, userVersion, at: metadata.at }, known.state);
  return tryAppend(dependencies, { decider: emailClaim, stream, from: known, events: decided }, metadata);
};

type Held = { readonly stream: StreamName; readonly known: Known<EmailClaimState>; readonly claimed: Claimed; readonly address: string };

/** Brings another user's claim one step nearer to its release, or refuses because that user has the address. */
const free = async (dependencies: Dependencies, held: Held, metadata: MetadataContext): Promise<void> => {
  const { stream, known, claimed, address } = held;
  const { userId, userVersion } = claimed;
  const users = usersOf(dependencies.domain);
  const holder = await dependencies.states.load(users, userStream(userId));
  const email = profileOf(holder.state)?.email ?? null;
  if (email !== null && sameAddress(email) === address) throw new Rejection('email_taken');
  if (holder.version > userVersion) {
    const released = emailClaim.decide({ type: 'ReleaseEmail', userId, userVersion: holder.version }, known.state);
    await tryAppend(dependencies, { decider: emailClaim, stream, from: known, events: released }, metadata);
  } else if (!isRecent(claimed.at)) {
    const fence = abandonEmail(dependencies.domain, userId, claimName(stream, userVersion), holder.state);
    await tryAppend(dependencies, { decider: users, stream: userStream(userId), from: holder, events: fence }, metadata);
  } else {
    await delay(LOOK_AGAIN_MS);
  }
};

/** Where clocks differ by more than that, a claim counts as old: the fence makes taking it over safe. */
const isRecent = (at: string): boolean => Math.abs(Date.now() - Date.parse(at)) <= USE_MAX_MS;
