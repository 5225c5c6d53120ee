import { test as base } from 'vitest';
import { type CommandDatabase, createCommandDatabase, registerUser } from './command-side.ts';
import { LOG_ENGINES } from './log-engines.ts';
import { startProjecting } from './projection.ts';

/**
 * A database for each file, with command sides of two processes, a projector and an author. Each starts when
 * a test asks for it.
 */
export const test = base
  .extend('databaseOptions', { scope: 'file' }, {} as Parameters<typeof createCommandDatabase>[0])
  .extend('database', { scope: 'file' }, async ({ databaseOptions }, { onCleanup }) => {
    const database = await createCommandDatabase(databaseOptions);
    onCleanup(() => database[Symbol.asyncDispose]());
    return database;
  })
  .extend('sideOptions', { scope: 'file' }, {} as Parameters<CommandDatabase['open']>[0])
  .extend('side', { scope: 'file' }, async ({ database, sideOptions }, { onCleanup }) => {
    const side = await database.open(sideOptions);
    onCleanup(() => side[Symbol.asyncDispose]());
    return side;
  })
  .extend('other', { scope: 'file' }, async ({ database, sideOptions }, { onCleanup }) => {
    const other = await database.open(sideOptions);
    onCleanup(() => other[Symbol.asyncDispose]());
    return other;
  })
  .extend('author', { scope: 'file' }, ({ side }) => registerUser(side))
  .extend('projector', { scope: 'file' }, async ({ side }, { onCleanup }) => {
    let running: AsyncDisposable | undefined;
    const projector = {
      start: async () => {
        running ??= await startProjecting(side);
      },
      stop: async () => {
        await running?.[Symbol.asyncDispose]();
        running = undefined;
      },
    };
    await projector.start();
    onCleanup(projector.stop);
    return projector;
  });

/** The same on each engine of the log, for `describe.each`. */
export const testOnEngines = LOG_ENGINES.map(
  ([name, startLog]) => [name, test.extend('databaseOptions', { scope: 'file' }, { startLog })] as const,
);
