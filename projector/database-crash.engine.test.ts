import { expect, test } from 'vitest';
import { startPostgresServer } from '../test/chaos/mixed/postgres-server.ts';
import {
  addComment,
  createCommandDatabase,
  draftArticle,
  registerUser,
} from '../test/engines/command-side.ts';
import { untilProjected } from '../test/engines/projection.ts';
import { startRole } from '../test/engines/role-process.ts';

const CRASHES = 5;
/** Commits that do not wait for the disk reach it only after this time. */
const LAZY = { wal_writer_delay: '10s' };

test(`rows that were visible in the read model survive kill -9 of the database server, ${CRASHES} times`, async () => {
  await using server = await startPostgresServer(LAZY);
  const url = await server.createDatabase('annals_crash');
  await using database = await createCommandDatabase({
    createDatabase: async () => ({
      url,
      async [Symbol.asyncDispose]() {},
    }),
  });
  await using side = await database.open();
  const author = await registerUser(side);
  const placeOfReadModel = async (): Promise<number | undefined> => {
    const { rows } = await side.pool.query<{ position: number }>(
      `select position from public.follower_checkpoint where follower = 'projector'`,
    );
    return rows[0]?.position;
  };
  for (let crash = 0; crash < CRASHES; crash += 1) {
    await using projector = startRole('projector/main.ts', database.settings);
    await projector.logged('Annals is ready.');
    await addComment(side, author, await draftArticle(side, author));
    await untilProjected(side);
    const seen = await placeOfReadModel();
    // Without the projector, nothing can repair what the server loses.
    await projector.kill('SIGKILL');
    await server.end('killed');
    expect(await placeOfReadModel()).toBe(seen);
  }
});
