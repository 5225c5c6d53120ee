import { startEmbeddedPostgres } from '#adapters/embedded-postgres/embedded.ts';

/**
 * A process that owns a data folder until a signal stops it. It prints its server's address in one line.
 */
const [dataDir = ''] = process.argv.slice(2);
await using server = await startEmbeddedPostgres({ dataDir, settings: { fsync: 'off' } });
console.log(server.url);
await new Promise((resolve) => process.once('SIGTERM', resolve));
