import type { ErrorRequestHandler, RequestHandler } from 'express';
import type { FastPath } from '#edge/http/fast-path.ts';
import type { Link } from '#edge/http/root-page.ts';
import type { Upgrades } from '#edge/http/upgrade.ts';
import type { Api } from './discovery/api.ts';
import type { DeliveriesOf } from './events/deliveries.ts';
import type { HistoryOptions } from './history/history.ts';
import type { Proof } from './proof.ts';
import type { KindReads } from './reads/reads.ts';
import type { QueryDependencies, QueryResources } from './resources.ts';
import type { AnyReads } from './rest/read-routes.ts';
import type { PastOptions } from './time-travel/options.ts';

/** A part of the query role, beside its reads over REST. */
export type QueryPart = {
  /** Its links at `GET /`. */
  readonly links: readonly Link[];
  /** The interfaces that it serves beside REST. */
  readonly apis?: readonly Api[];
  /** Finds the deliveries of events, if it knows them. */
  deliveriesOf?(dependencies: QueryDependencies): DeliveriesOf;
  /** Of the part that proves the log. */
  readonly proof?: Proof;
  /** Whether it revokes the tokens of changed users, in step with the changes that it delivers. */
  readonly revokes?: true;
  /** Opens it with what the role has opened. It closes before that. */
  open(resources: PartResources): OpenedPart | Promise<OpenedPart>;
};

export type PartResources = QueryResources & {
  readonly kinds: KindReads;
  /** Of reads of former states. The feed has a `past` of its own. */
  readonly timeTravel: PastOptions & HistoryOptions;
  /** Opens what several parts share. It closes after them. */
  once<Opened extends AsyncDisposable>(open: OpenShared<Opened>): Promise<Opened>;
};

type OpenShared<Opened> = (resources: QueryResources) => Promise<Opened>;

export type OpenedPart = Partial<AsyncDisposable> & {
  readonly routes?: RequestHandler;
  /** Takes requests that prefer another form to that of the reads. */
  readonly instead?: RequestHandler;
  /** Its reads over REST, by operation id. */
  readonly reads?: AnyReads;
  /** Comes after all routes, also those of other roles. */
  readonly refusals?: ErrorRequestHandler;
  /** Of its most frequent request. */
  readonly fastPath?: FastPath;
  /** The requests that it takes from HTTP to another protocol. */
  readonly upgrades?: Upgrades | undefined;
};

declare module '#process/part.ts' {
  interface Additions {
    readonly query: QueryPart;
  }
}
