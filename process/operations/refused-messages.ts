import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { pathEventId } from '#kernel/base/rest/path-id.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Stretch } from '#shared/webhooks/deliveries.ts';

/** A message to the inbox that was refused, without its content. */
export type RefusedMessage = {
  /** A UUID of version 7: in the order of time. */
  readonly id: string;
  readonly at: Date;
  readonly sender: string;
  readonly code: string;
  readonly reason: string;
  /** Of a verified message alone. */
  readonly messageId: string | null;
  readonly messageType: string | null;
  /** The size of the body; without the hash if it was not read. */
  readonly bytes: number | null;
  readonly sha256: string | null;
  readonly request: string;
};

/** The latest of each sender and code: many refusals of one kind, as in an attack, do not displace the others. */
export const REFUSED_KEPT_MAX = 200;
const KEPT_DAYS = 30;
const IS_OLD = `at < now() - interval '${KEPT_DAYS} days'`;

/** The latest first; of one sender only, if it is named. */
export const readRefusedMessages = async (
  pool: Pick<Pool, 'query'>,
  { after, before, isBackward, rowsMax }: Stretch<string>,
  sender?: string,
): Promise<readonly RefusedMessage[]> => {
  // A forged cursor.
  if ([after, before].some((id) => id !== undefined && pathEventId(id) === undefined))
    throw new HttpProblem('unknown_cursor');
  const { rows } = await pool.query<RefusedMessage>(
    `select id, at, sender, code, reason, message_id as "messageId", message_type as "messageType", bytes::float8 as bytes, sha256, request
     from operations.refused_message
     where ($1::uuid is null or id < $1) and ($2::uuid is null or id > $2) and ($4::text is null or sender = $4) and not ${IS_OLD}
     order by id ${isBackward ? 'asc' : 'desc'} limit $3`,
    [after, before, rowsMax, sender],
  );
  return rows;
};

/** Records refused messages, and deletes those that are too old or too many. */
export const recordRefusedMessages = async (
  pool: Pick<Pool, 'query'>,
  messages: readonly RefusedMessage[],
): Promise<void> => {
  if (messages.length > 0)
    await pool.query(
      `insert into operations.refused_message (id, at, sender, code, reason, message_id, message_type, bytes, sha256, request)
       select * from unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::text[], $10::text[])
       on conflict do nothing`,
      [
        messages.map(({ id }) => id),
        messages.map(({ at }) => at.toISOString()),
        messages.map(({ sender }) => sender),
        messages.map(({ code }) => code),
        messages.map(({ reason }) => reason),
        messages.map(({ messageId }) => messageId),
        messages.map(({ messageType }) => messageType),
        messages.map(({ bytes }) => bytes),
        messages.map(({ sha256 }) => sha256),
        messages.map(({ request }) => request),
      ],
    );
  // Other processes delete the same rows at the same time.
  await pool.query(
    `delete from operations.refused_message where id in (
       select id from operations.refused_message m
       where ${IS_OLD} or id in (
         select id from (
           select id, row_number() over (partition by sender, code order by id desc) as number
           from operations.refused_message) numbered
         where number > $1)
       order by id for update skip locked)`,
    [REFUSED_KEPT_MAX],
  );
};
