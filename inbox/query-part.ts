import { readKeyedList } from '#edge/rest/pages.ts';
import type { ListedRefusal } from '#kernel/sender/refused-messages.ts';
import { type RefusedMessage, readRefusedMessages } from '#process/operations/refused-messages.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { QueryPart } from '../query/part.ts';
import type { AnyReads } from '../query/rest/read-routes.ts';
import { readFailureOf } from '../query/rows/statement.ts';

type Asked = {
  readonly sender?: string;
  readonly limit?: number;
  readonly after?: string;
  readonly before?: string;
};

/** The list of refused messages, as the query role serves it. */
export const part: QueryPart = {
  links: [],
  open: ({ domain, pool }) => (domain.senders?.length ? { reads: refusedMessageReads(pool) } : {}),
};

const refusedMessageReads = (pool: Pool): AnyReads => ({
  listRefusedMessages: (_reader, asked: Asked) =>
    readKeyedList<RefusedMessage, string>({
      path: '/operations/inbox',
      asked,
      kindOfKey: 'string',
      read: (stretch) => readRefusedMessages(pool, stretch, asked.sender).catch(throwReadFailure),
      keyOf: ({ id }) => id,
      represent: ({ at, ...message }): ListedRefusal => ({ ...message, at: at.toISOString() }),
    }),
});

const throwReadFailure = (cause: unknown): never => {
  throw readFailureOf(cause);
};
