import { type CommandDatabase, createCommandDatabase, draftArticle, registerUser } from './command-side.ts';

/** A log to which an earlier release has appended events after the upgrade: `article-8000001` and the following. */
export const createBareEvents = async (events: number): Promise<CommandDatabase> => {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await createCommandDatabase());
  await using side = await database.open();
  await draftArticle(side, await registerUser(side));
  await side.pool.query(
    `insert into event_log.event (position, stream, version, id, type, data, metadata, bytes)
     select last.position + n, 'article-' || (8000000 + n), 1, gen_random_uuid(), type, data, metadata, bytes
     from event_log.event, (select max(position) as position from event_log.event) last, generate_series(1, $1::integer) n
     where type = 'article.drafted'`,
    [events],
  );
  opening.move();
  return database;
};
