import type { Cursor } from '#kernel/base/cursor.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Call } from './calls/filling.ts';
import type { Use } from './calls/use.ts';
import type { DocsPage } from './page/page.ts';

/** GraphQL, as the pages show it. Its module is loaded only if GraphQL is served. */
export type ShownGraphql = {
  pageOf(domain: Domain): DocsPage;
  /** The operation as a document. Undefined if GraphQL has no field for it. */
  documentFor(call: Call, use: Use | undefined, domain: Domain): string | undefined;
  /** A subscription to the type of the event, and what it receives. */
  subscriptionTo(domain: Domain, change: Change, cursor: Cursor): ShownSubscription;
};

export type ShownSubscription = { readonly subscription: string; readonly result: JsonObject };
