import { test as base } from 'vitest';
import { type CommandDatabase, createCommandDatabase, registerUser } from './command-side.ts';
import { LOG_ENGINES } from './log-engines.ts';
import { startProjecting } from './projection.ts';

type DatabaseOptions = Parameters<typeof createCommandDatabase>[0];
type SideOptions = Parameters<CommandDatabase['open']>[0];
type OnCleanup = { readonly onCleanup: (cleanUp: () => PromiseLike<void>) => void };

const create = async (
  { databaseOptions }: { databaseOptions: DatabaseOptions },
  { onCleanup }: OnCleanup,
) => {
  const database = await createCommandDatabase(databaseOptions);
  onCleanup(() => database[Symbol.asyncDispose]());
  return database;
};

const open = async (
  { database, sideOptions }: { database: CommandDatabase; sideOptions: SideOptions },
  { onCleanup }: OnCleanup,
) => {
  const side = await database.open(sideOptions);
  onCleanup(() => side[Symbol.asyncDispose]());
  return side;
};

/**
 * A database for each file, with command sides of two processes, a projector and an author. Each starts when
 * a test asks for it.
 */
export const test = base
  .extend('databaseOptions', { scope: 'file' }, {} as DatabaseOptions)
  .extend('database', { scope: 'file' }, create)
  .extend('sideOptions', { scope: 'file' }, {} as SideOptions)
  .extend('side', { scope: 'file' }, open)
  .extend('other', { scope: 'file' }, open)
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

/** A database for each test, with command sides of two processes. */
export const freshTest = base
  .extend('databaseOptions', { scope: 'test' }, {} as DatabaseOptions)
  .extend('database', { scope: 'test' }, create)
  .extend('sideOptions', { scope: 'test' }, {} as SideOptions)
  .extend('side', { scope: 'test' }, open)
  .extend('other', { scope: 'test' }, open);
