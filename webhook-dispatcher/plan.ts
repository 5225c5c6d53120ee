// Over 200 lines, because it is one follower: how changes become deliveries of webhooks.

import type { EventId, LogIdentity, Position } from '#kernel/base/brands.ts';
import { positionHere } from '#kernel/base/events/log-positions.ts';
import { filtersOf } from '#kernel/registry/event-references.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Change, ChangePage, ChangeStream } from '#shared/change-stream/change-stream.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Connection } from '#shared/database/pool.ts';
import { START } from '#shared/event-log/event-log.ts';
import { type Catalogue, catalogueOf } from '#shared/events/catalogue.ts';
import { type FollowingOptions, startFollowing } from '#shared/follower/follower.ts';
import { type Policy, policyOf } from '#shared/policy.ts';
import { NO_TRACING, type Tracing } from '#shared/tracing/tracing.ts';
import { readOwners } from '#shared/webhooks/owners.ts';
import {
  endpointAfter,
  type PlannedEndpoint,
  type WebhookChange,
  webhookChangeOf,
} from '#shared/webhooks/planned-endpoint.ts';
import { PLANNER } from '#shared/webhooks/planner.ts';
import { planningRightsOf } from '#shared/webhooks/planning-rights.ts';
import { isVisibleTo } from '#shared/webhooks/wanted.ts';
import { lockEndpoints, readEndpoints, writeEndpoint } from './ledger/endpoints.ts';
import {
  declarePlanning,
  dropDeliveries,
  letThrough,
  plannedFor,
  redeliver,
  redrive,
  writeDeliveries,
  writeReplay,
} from './ledger/plan-rows.ts';
import { readQuiet } from './ledger/quiet.ts';
import { EndpointBook } from './matching.ts';
import { type PlannedRuns, plannedRuns } from './planned-runs.ts';
import { type TracedPlans, tracePlans } from './trace-plans.ts';

type PlannerDependencies = Pick<
  FollowingOptions<ChangePage>,
  'pool' | 'eventLog' | 'log' | 'metrics' | 'clock'
> & {
  readonly domain: Domain;
  readonly changes: Pick<ChangeStream, 'follow'>;
  /** Off by default. */
  readonly tracing?: Tracing | undefined;
  /**
   * Called after each commit with new deliveries, or with webhooks if deliveries are unknown: only a hint.
   */
  planned(planned: PlannedRuns): void;
};

/**
 * Lets a commit plan several changes under steady writing, most of which may concern no webhook; receivers
 * are slower than this.
 */
const REST_MS = 10;

/**
 * Plans deliveries, in one process at a time: webhooks, deliveries and the checkpoint change in one
 * transaction, so that a webhook gets exactly the changes between its registration and its end.
 */
export const startPlanner = async (dependencies: PlannerDependencies): Promise<AsyncDisposable> => {
  const { domain, changes, planned, tracing = NO_TRACING, ...following } = dependencies;
  const catalogue = catalogueOf(domain);
  const policy = policyOf(domain);
  const plans = tracePlans(tracing);
  // The webhooks at a position; read again for any other, because another leader may have planned in between.
  let known: (Known & { readonly at: Position }) | undefined;
  let concerned: PlannedRuns = new Map();
  return startFollowing<ChangePage>({
    ...following,
    name: PLANNER,
    restMs: REST_MS,
    async *follow(after, signal) {
      for await (const page of changes.follow(after, signal))
        for (const part of partsOf(page, () => known?.book.size))
          yield { page: part, upTo: part.upTo, event: part.event };
    },
    concerns({ changes: several, upTo }, { after }) {
      if (known?.at !== after) return true;
      const { book } = known;
      if (several.some((change) => webhookChangeOf(change) !== undefined || book.wanting(change).length > 0))
        return true;
      known = { ...known, at: upTo };
      return false;
    },
    async write(page, connection, { after }) {
      const { identity: log } = following.eventLog;
      const { book, quietUpTo } =
        known?.at === after ? known : await begin(connection, domain, { log, after });
      // If anything fails from here on, the book may differ from the tables, so it is dropped.
      known = undefined;
      concerned = await planPage(
        connection,
        { policy, catalogue, book, log, quietUpTo, planned: plans.planned, clock: following.clock },
        plans.begin(page.changes),
      );
      known = { book, quietUpTo, at: page.upTo };
    },
    committed: () => {
      plans.committed();
      const found = concerned;
      // A later move of the checkpoint alone reports nothing.
      concerned = new Map();
      if (found.size > 0) planned(found);
    },
  });
};

/** The webhooks, and the position up to which none gets anything. */
type Known = { readonly book: EndpointBook; readonly quietUpTo: Position };

const begin = async (
  connection: Connection,
  domain: Domain,
  { log, after }: { readonly log: LogIdentity; readonly after: Position },
): Promise<Known> => {
  await declarePlanning(connection, planningRightsOf(domain), after);
  return {
    book: new EndpointBook(filtersOf(domain), await readEndpoints(connection, domain)),
    quietUpTo: await readQuiet(connection, log),
  };
};

/** The maximum number of deliveries per transaction, except for those of a single change. */
const PLANNED_MAX = 20_000;
/** Used while the number of webhooks is unknown. */
const FIRST_CHANGES_MAX = 20;

/** Splits a page so that the number of webhooks cannot make a transaction too large. */
function* partsOf(
  { changes, upTo, event }: ChangePage,
  webhooks: () => number | undefined,
): Generator<ChangePage> {
  let rest = changes;
  do {
    const known = webhooks();
    const many =
      known === undefined ? FIRST_CHANGES_MAX : Math.max(1, Math.floor(PLANNED_MAX / Math.max(1, known)));
    const part = rest.slice(0, many);
    rest = rest.slice(many);
    const last = rest.length > 0 ? part.at(-1) : undefined;
    yield { changes: part, upTo: last?.position ?? upTo, event: last?.id ?? event };
  } while (rest.length > 0);
}

type Planning = Pick<TracedPlans, 'planned'> & {
  readonly catalogue: Catalogue;
  readonly policy: Policy;
  readonly log: LogIdentity;
  readonly clock: Pick<Clock, 'elapsedMs'>;
};

/** Matches each change with the webhooks as they were at that time. */
const planPage = async (
  connection: Connection,
  { catalogue, policy, book, quietUpTo, log, planned, clock }: Known & Planning,
  changes: readonly Change[],
): Promise<PlannedRuns> => {
  const wanted: Wanted[] = [];
  const webhookChanges: WebhookChange[] = [];
  const abouts = changes.map(webhookChangeOf);
  await lockEndpoints(connection, new Set(abouts.flatMap((about) => (about ? [about.data.webhookId] : []))));
  for (const [index, change] of changes.entries()) {
    const about = abouts[index];
    const isQuiet = change.position <= quietUpTo || change.importedAt !== undefined;
    // A webhook is not notified of its own changes.
    for (const endpoint of isQuiet ? [] : book.wanting(change))
      if (about?.data.webhookId !== endpoint.webhookId) wanted.push({ endpoint, change });
    if (!about) continue;
    if (!isQuiet || about.type === 'webhook.deleted') webhookChanges.push(about);
    const before = book.get(about.data.webhookId);
    if (about.type === 'webhook.test_requested' && before?.status === 'enabled' && !isQuiet)
      wanted.push({ endpoint: before, change });
    const after = endpointAfter(before, about);
    if (after) book.set(after);
    if (after) await writeEndpoint(connection, policy.domain, after);
  }
  const owners = await readOwners(
    connection,
    policy.domain,
    new Set(wanted.map(({ endpoint }) => endpoint.ownerId)),
  );
  const deliveries = wanted
    .filter(({ endpoint, change }) => isVisibleTo({ owners, policy }, endpoint, change))
    .map(({ endpoint, change }) => plannedFor(endpoint, change));
  planned(deliveries);
  const writtenAtMs = clock.elapsedMs();
  const isNew = await writeDeliveries(connection, catalogue, deliveries);
  for (const each of webhookChanges) await applyChange(connection, each, log);
  const webhookIds = new Set(
    [...deliveries, ...webhookChanges.map(({ data }) => data)].map(({ webhookId }) => webhookId),
  );
  // Owners who change in the same page may lose rights.
  const isKnown = isNew && abouts.every((about) => about === undefined);
  return plannedRuns(webhookIds, { book, owners, deliveries: isKnown ? deliveries : [], writtenAtMs });
};

/** The webhook as it was at the change. */
type Wanted = { readonly endpoint: PlannedEndpoint; readonly change: Change };

/** Applies a webhook’s change to its deliveries, including those of the same page. */
const applyChange = async (
  connection: Connection,
  { type, data, position }: WebhookChange,
  log: LogIdentity,
): Promise<void> => {
  const { webhookId } = data;
  switch (type) {
    case 'webhook.deleted':
      return dropDeliveries(connection, [webhookId]);
    case 'webhook.redelivery_requested':
      return redeliver(connection, webhookId, data.deliveryId as EventId);
    case 'webhook.redrive_requested':
      return redrive(connection, data);
    case 'webhook.test_requested':
      return letThrough(connection, webhookId);
    case 'webhook.replay_requested':
      return writeReplay(connection, {
        ...{ id: data.replayId, webhookId, time: data.time },
        // For a span in a log of which ours is a copy, everything is sent again that existed at the request.
        from: data.from && positionHere(data.from, { log, elsewhere: START }),
        to: positionHere(data.to, { log, elsewhere: position }),
      });
    case 'webhook.registered':
    case 'webhook.changed':
    case 'webhook.secret_rotated':
    case 'webhook.enabled':
    case 'webhook.disabled':
      return undefined;
  }
};
