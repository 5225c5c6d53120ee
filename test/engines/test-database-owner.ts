import { createTestDatabase } from '../../package/testing/test-database.ts';

/** A test that has a database until it is killed. */
await using database = await createTestDatabase();
console.log(database.url);
await new Promise(() => setInterval(() => {}, 60_000));
