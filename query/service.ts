import { type ErrorRequestHandler, type RequestHandler, Router } from 'express';
import type { FastPath } from '#edge/http/fast-path.ts';
import { createFastRoutes, type FastRoutes } from '#edge/http/fast-routes.ts';
import { inSequence } from '#edge/http/in-sequence.ts';
import type { Link } from '#edge/http/root-page.ts';
import { routesWhenAsked } from '#edge/http/routes-when-asked.ts';
import type { Upgrades } from '#edge/http/upgrade.ts';
import { recordingOf } from '#edge/read-log/recording.ts';
import type { ReadWritten } from '#edge/rest/writes/write-routes.ts';
import { routeOf } from '#kernel/base/rest/operation.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { createCodec } from '#shared/events/codec.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { ofAggregates, ofViews } from '#shared/rest/operations.ts';
import { OPERATOR_OPERATIONS } from '#shared/rest/operator-operations.ts';
import { asyncApiRoutes } from './asyncapi/routes.ts';
import { coreReads, itemReads } from './core-reads.ts';
import { API_CATALOG_PATH } from './discovery/api.ts';
import { apiCatalogRoutes } from './discovery/routes.ts';
import { eventSchemaRoutes } from './event-types/schema-routes.ts';
import { openApiRoutes } from './openapi/routes.ts';
import type { OpenedPart, PartResources, QueryPart } from './part.ts';
import { createKindReads, type KindReads } from './reads/reads.ts';
import { spreadKindReads } from './replicas/kinds.ts';
import { openResources, type QueryDependencies, type QueryResources } from './resources.ts';
import { createReadJustCreated } from './rest/just-created.ts';
import { type AnyReads, readRoutes } from './rest/read-routes.ts';
import { createReadWritten } from './rest/read-written.ts';

type QueryService = AsyncDisposable & {
  readonly routes: RequestHandler;
  /** Come after all routes, also those of other roles. */
  readonly refusals: readonly ErrorRequestHandler[];
  /** The routes of the installation’s own, which come after all of Annals. */
  readonly ownRoutes: readonly RequestHandler[];
  readonly fastPaths: readonly FastPath[];
  /** One of the fast paths, for the writes that the process serves too. */
  readonly fastRoutes: FastRoutes;
  /** The links of `GET /` to this role. */
  readonly links: readonly Link[];
  /** Reads the item for writes with `Prefer: return=representation`. */
  readonly readWritten: ReadWritten;
  /** The requests that a part takes from HTTP to another protocol. */
  readonly upgrades: Upgrades | undefined;
};

/** The links to the reads over REST. */
const linksTo = (domain: Domain): readonly Link[] => [
  ...ofAggregates(domain).flatMap(([, { use, path, summary }]) =>
    use.does === 'list' && use.kind.parent === undefined
      ? [{ rel: use.kind.path, href: path, title: summary }]
      : [],
  ),
  ...ofViews(domain).flatMap(([, { reads, path, summary }]) =>
    reads.does === 'list' ? [{ rel: reads.view.path, href: path, title: summary }] : [],
  ),
  { rel: 'users', href: '/users', title: 'The users' },
  {
    rel: 'events',
    href: '/events',
    title: serves(domain, 'streams') ? 'Events: recorded and live' : 'The recorded events',
  },
  { rel: 'event-types', href: '/event-types', title: 'Event types' },
  { rel: 'operations', href: '/operations', title: 'System status (administrators)' },
  { rel: 'openapi', href: '/openapi.json', title: 'The interface, for programs' },
  { rel: 'api-catalog', href: API_CATALOG_PATH, title: 'The interfaces, for programs that look for them' },
];

/** The links of the role with its parts. */
export const queryLinksOf = (domain: Domain, parts: readonly QueryPart[]): readonly Link[] => [
  ...linksTo(domain),
  ...parts.flatMap(({ links }) => links),
];

const CREATOR_WAITS_MS = 1_000;

/**
 * Starts the query side: reads of the read model over REST, each by the rights of its caller, and what the
 * parts add to them.
 */
export const startQueryService = async (
  dependencies: QueryDependencies,
  parts: readonly QueryPart[],
): Promise<QueryService> => {
  const { domain, pool, eventLog, config, keys, clock } = dependencies;
  await using opening = new AsyncDisposableStack();
  const annotating = parts.find((part) => part.deliveriesOf !== undefined);
  const deliveriesOf = annotating?.deliveriesOf?.(dependencies);
  const proof = parts.find((part) => part.proof !== undefined)?.proof;
  const resources = await openResources(dependencies, opening, { deliveriesOf, proof });
  const { before, snapshots, readPosition, visibleWithinMs } = resources;
  const folding = { keys, codec: createCodec(dependencies), tables: tablesOf(domain), snapshots };
  const past = { domain, pool, eventLog, clock, ...folding, readPosition, visibleWithinMs };
  const kinds = createKindReads(resources);
  if (!parts.some(({ revokes }) => revokes)) {
    const { followChangedUsers } = await import('./revocations/follow-users.ts');
    opening.use(await followChangedUsers(resources));
  }
  const opened = await openParts(parts, { ...resources, kinds, timeTravel: past }, opening);
  const ofParts: AnyReads = Object.assign({}, ...opened.map((each) => each.reads));
  const readWritten = createReadWritten({
    ...dependencies,
    reads: { ...itemReads(kinds, past), ...ofParts },
    readPosition,
    waitMaxMs: visibleWithinMs,
  });
  const waitMaxMs = dependencies.creatorWaitsMs ?? CREATOR_WAITS_MS;
  const readJustCreated = createReadJustCreated({ readPosition, eventLog, clock, waitMaxMs });
  const fastRoutes = createFastRoutes();
  const refusals = opened.flatMap((each) => each.refusals ?? []);
  const recording = await recordingOf(resources.readLog);
  const routes = inSequence([
    ...recording,
    ...opened.flatMap((each) => each.instead ?? []),
    readRoutes(
      // First, because words of their paths could be ids.
      { ...ofParts, ...coreReads(spreadKindReads(kinds, resources), past, resources) },
      { domain, before, readJustCreated, fastRoutes },
    ),
    openApiRoutes({ ...config, domain }, eventLog),
    asyncApiRoutes({ ...config, domain }, eventLog),
    eventSchemaRoutes({ ...config, domain }),
    apiCatalogRoutes({ ...config, domain, apis: parts.flatMap(({ apis = [] }) => apis) }),
    rareRoutes({ ...resources, kinds }),
    ...opened.flatMap((each) => each.routes ?? []),
  ]);
  const closing = opening.move();
  return {
    routes,
    refusals,
    ownRoutes: await ownRoutesOf(resources),
    fastPaths: [
      ...opened.flatMap(({ fastPath }) => fastPath ?? []),
      { ...fastRoutes.fastPath, failures: refusals },
    ].map((path) => ({ ...path, handlers: [...recording, ...path.handlers] })),
    fastRoutes,
    links: queryLinksOf(domain, parts),
    readWritten,
    upgrades: opened.find(({ upgrades }) => upgrades)?.upgrades,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
};

const ownRoutesOf = async (resources: QueryResources): Promise<QueryService['ownRoutes']> =>
  resources.ownRoutes ? [(await import('./own-routes.ts')).ownRoutes(resources.ownRoutes, resources)] : [];

/** Uploads, and commands of operators: loaded with the first request for one of them. */
const rareRoutes = ({
  domain,
  pool,
  blobs,
  before,
  uploadKey: key,
  config: { limits },
  kinds: { find },
}: QueryResources & { readonly kinds: KindReads }): Router =>
  Router()
    .post(
      [OPERATOR_OPERATIONS.retryParkedItem, OPERATOR_OPERATIONS.releaseParkedItem].map(routeOf),
      routesWhenAsked(async () => {
        const { operatorCommandRoutes } = await import('./operations/operator-command-routes.ts');
        return operatorCommandRoutes({ pool, bodyBytesMax: limits.bodyBytesMax });
      }),
    )
    .all(
      '/uploads/{*path}',
      routesWhenAsked(async () => {
        const { uploadRoutes } = await import('./uploads/routes.ts');
        const { createVisibility } = await import('./uploads/visibility.ts');
        return uploadRoutes({
          blobs,
          key,
          visibilityOf: createVisibility({ domain, pool, find, key }),
          before,
        });
      }),
    );

const openParts = async (
  parts: readonly QueryPart[],
  resources: Omit<PartResources, 'once'>,
  opening: AsyncDisposableStack,
): Promise<readonly OpenedPart[]> => {
  const shared = new Map<unknown, unknown>();
  const once: PartResources['once'] = async (open) => {
    const known = shared.get(open) as ReturnType<typeof open> | undefined;
    if (known !== undefined) return known;
    const made = opening.use(await open(resources));
    shared.set(open, made);
    return made;
  };
  const opened: OpenedPart[] = [];
  for (const part of parts) {
    const each = await part.open({ ...resources, once });
    opening.defer(async () => each[Symbol.asyncDispose]?.());
    opened.push(each);
  }
  return opened;
};
