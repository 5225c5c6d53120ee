import { createHmac } from 'node:crypto';
import type { StreamName } from '#kernel/base/brands.ts';
import type { MetadataContext } from '#kernel/base/events/metadata.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { areEqual } from '#kernel/decide/are-equal.ts';
import { abandon, deciderOf } from '#kernel/decide/decider.ts';
import { type Limit, limitsOf, type Values } from '#kernel/decide/limits.ts';
import type { AggregateState } from '#kernel/decide/state.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import { deriveKey, type MasterKey } from '#shared/keys/master-key.ts';
import { type ClaimDecider, claimDecider } from '../claims/claim.ts';
import { createClaims, type ReportUnreadable } from '../claims/claims.ts';
import { streamOf, type Target, toEvents } from '../handling/target.ts';
import type { AppendDependencies } from '../handling/try-append.ts';
import { emailClaim, emailStream } from '../users/email-claim.ts';

/** Enforces the limits of aggregates. */
export type Limits = {
  /** Claims the places that an aggregate is about to use, or refuses; undefined if its kind has no limits. */
  announce(kind: Kind, id: number, metadata: MetadataContext): Target['prepare'];
};

type Dependencies = AppendDependencies & {
  readonly domain: Domain;
  readonly masterKey: MasterKey;
  readonly reportUnreadable: ReportUnreadable;
  readonly clock: Clock;
};

export const createLimits = ({ domain, masterKey, ...appending }: Dependencies): Limits => {
  const claims = createClaims(appending);
  const placesOf = placesBy(masterKey);
  return {
    announce(kind, id, metadata) {
      const limits = limitsOf(domain, kind);
      if (limits.length === 0) return undefined;
      const decider = deciderOf(domain, kind);
      return async (events, { state: before, version }, how) => {
        const after = events.reduce(
          (state, { type, data }) => decider.evolve(state, { type, data, metadata }),
          before,
        );
        const wanted = limits.flatMap((limit) => {
          // An aggregate that already counts has its place. Its claim may be one of a former release, so a
          // change to an address that looks alike needs another one.
          if (areEqual(limit.amongSpelled(after), limit.amongSpelled(before))) return [];
          const { max, fence, refusal } = limit;
          const refuse = () => new Rejection(refusal.code, max === 1 ? {} : { max }, { says: refusal.says });
          return waysOf(limit, after).map(({ values, among }) => {
            const holders = {
              decider,
              isPersonal: limit.isPersonal,
              streamOf: (holder: number) => streamOf(kind, holder),
              uses: (state: typeof before) => areEqual(values, among(state)),
              fence: (holder: number, claim: string, state: typeof before) =>
                toEvents(abandon(kind, { fence, id: holder, claim }, state)),
            };
            return { ...placesOf(kind, limit, values), max, id, version, holders, refusal: refuse };
          });
        });
        await claims.claim(wanted, { ...how, metadata });
      };
    },
  };
};

type Way = { readonly values: Values; readonly among: Limit['among'] };

/**
 * The places that an aggregate needs. One with an address in compatibility letters needs a second one, by its
 * spelling: former releases have claimed only that one, and look only there.
 */
const waysOf = ({ among, amongSpelled }: Limit, state: AggregateState): readonly Way[] => {
  const [values, spelled] = [among(state), amongSpelled(state)];
  if (values === undefined || spelled === undefined) return [];
  return areEqual(values, spelled)
    ? [{ values, among }]
    : [
        { values, among },
        { values: spelled, among: amongSpelled },
      ];
};

type Places = { readonly stream: StreamName; readonly decider: ClaimDecider };

/**
 * The streams of a limit’s claims. Their names contain keyed hashes, because the values may be personal and
 * the streams remain for ever.
 */
const placesBy = (masterKey: MasterKey): ((kind: Kind, limit: Limit, values: Values) => Places) => {
  const hashBy = (key: Buffer, text: string): string =>
    createHmac('sha256', key).update(text).digest('base64url');
  const [ofAddresses, ofLimits] = [deriveKey(masterKey, 'email-claim'), deriveKey(masterKey, 'limit-claim')];
  return (kind, { name, fence }, values) => {
    if (fence === 'email_abandoned')
      return {
        stream: emailStream(hashBy(ofAddresses, String(values[0]))),
        decider: emailClaim as ClaimDecider,
      };
    const limit = `${kind.name}.${name}`;
    return {
      stream: streamName('limit', hashBy(ofLimits, JSON.stringify([limit, ...values]))),
      decider: limitClaim(limit),
    };
  };
};

type LimitClaimEvent =
  | {
      readonly type: 'limit.claimed';
      readonly data: { limit: string; id: number; version: number; at: string };
    }
  | { readonly type: 'limit.released'; readonly data: { limit: string; id: number } };

/** Only domains with limits have these events; the codec checks their schemas. */
const limitClaim = (limit: string): ClaimDecider =>
  claimDecider({
    claimed: (claimed) =>
      ({
        type: 'limit.claimed',
        data: { limit, ...claimed },
      }) satisfies LimitClaimEvent as unknown as AnnalsEvent,
    released: (id) =>
      ({ type: 'limit.released', data: { limit, id } }) satisfies LimitClaimEvent as unknown as AnnalsEvent,
    read(event) {
      const { type, data } = event as unknown as LimitClaimEvent;
      if (type === 'limit.released') return { id: data.id };
      return { id: data.id, holder: { version: data.version as never, at: data.at } };
    },
  });
